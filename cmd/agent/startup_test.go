package main

import (
	"os"
	"strings"
	"testing"
)

// TestStartWithoutCollections: no garbage is collected while the packages initialize.
func TestStartWithoutCollections(t *testing.T) {
	t.Setenv("GOGC", "") // restored at the end
	if err := os.Unsetenv("GOGC"); err != nil {
		t.Fatal(err)
	}
	cmd := agentIn(t, t.TempDir(), "--version")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1,gctrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "init github.com/alecthomas/chroma/v2/styles ") {
		t.Errorf("the trace does not show the packages:\n%s", out)
	}
	if strings.Contains(string(out), "\ngc 1 @") {
		t.Errorf("garbage was collected:\n%s", out)
	}
}
