package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
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

// TestCollectionsOfALongRun: a run with one answer ends before any garbage is collected; one that goes on after a tool does not
// keep its garbage.
func TestCollectionsOfALongRun(t *testing.T) {
	t.Setenv("GOGC", "") // restored at the end
	if err := os.Unsetenv("GOGC"); err != nil {
		t.Fatal(err)
	}
	for rounds, collected := range map[int]bool{0: false, 20: true} {
		dir, script := t.TempDir(), "turns: ["
		for i := range rounds {
			name := fmt.Sprint("file", i)
			scratch.Write(t, filepath.Join(dir, name), name)
			script += "{calls: [{tool: read_file, args: {path: " + name + "}}]}, "
		}
		scratch.Write(t, filepath.Join(dir, "script.yaml"), script+"{text: ok}]\n")
		cmd := agentIn(t, dir, "-p", "go")
		cmd.Env = append(cmd.Env, "GODEBUG=gctrace=1")
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &trace)
		}
		if got := regexp.MustCompile(`(?m)^gc 1 @`).Match(trace.Bytes()); got != collected {
			t.Errorf("%d rounds: garbage was collected: %v\n%s", rounds, got, &trace)
		}
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
