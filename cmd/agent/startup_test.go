package main

import (
	"os"
	"regexp"
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

// The version is that of the newest release in the changelog: a number, with the commit after it.
func TestVersion(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)`).FindSubmatch(text)
	if newest == nil || version != string(newest[1]) || fullVersion() != version {
		t.Errorf("version %s (%s), the changelog has %s", version, fullVersion(), newest)
	}
	commit = "abc"
	if got := fullVersion(); got != version+"+abc" {
		t.Error(got)
	}
	commit = ""
}
