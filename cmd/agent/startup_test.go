package main

import (
	"os"
	"path/filepath"
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

// TestCollectionsOfALongRun: a run with one answer ends before any garbage is collected; one that goes on after a tool does not
// keep its garbage.
func TestCollectionsOfALongRun(t *testing.T) {
	t.Setenv("GOGC", "") // restored at the end
	if err := os.Unsetenv("GOGC"); err != nil {
		t.Fatal(err)
	}
	for script, collected := range map[string]bool{
		"turns: [{text: ok}]\n": false,
		"turns: [{calls: [{tool: read_file, args: {path: script.yaml}}]}, {text: ok}]\n": true,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "script.yaml"), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := agentIn(t, dir, "-p", "go")
		cmd.Env = append(cmd.Env, "GODEBUG=gctrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got := regexp.MustCompile(`(?m)^gc 1 @`).Match(out); got != collected {
			t.Errorf("%s: garbage was collected: %v\n%s", script, got, out)
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
