package home

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

func TestEditorCommand(t *testing.T) {
	editor := "vi"
	if runtime.GOOS == "windows" {
		editor = "notepad"
	}
	for _, c := range []struct {
		setting, visual, editor string
		want                    []string
	}{
		{"code --wait", "vim", "nano", []string{"code", "--wait"}},
		{"", "vim", "nano", []string{"vim"}},
		{"", " ", "nano -w", []string{"nano", "-w"}},
		{"", "", "", []string{editor}},
	} {
		t.Setenv("VISUAL", c.visual)
		t.Setenv("EDITOR", c.editor)
		got := EditorCommand(c.setting)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Error(d)
		}
	}
}

// writeScript makes a program that replaces an editor.
func writeScript(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "editor")
	scratch.Program(t, file, "#!/bin/sh\n"+body)
	return file
}

func TestExternalEditor(t *testing.T) {
	dir := t.TempDir()
	argv := []string{writeScript(t, `{ cat "$1"; echo "${1##*/}"; echo "$WHO"; } > "$1.new"; mv "$1.new" "$1"`+"\n")}
	cmd, result, err := External(dir, lookpath.Search{}, argv, []string{"PATH=" + os.Getenv("PATH"), "WHO=me"}, "pkg/main.go", "proposed\n")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := result()
	if err != nil || got != "proposed\nmain.go\nme\n" {
		t.Errorf("%q, %v", got, err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "edit"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMissingExternalEditor(t *testing.T) {
	_, _, err := External(t.TempDir(), lookpath.Search{}, []string{"no-such-editor"}, nil, "a", "")
	if err == nil || !strings.Contains(err.Error(), "set EDITOR") {
		t.Error(err)
	}
}

func TestExternalEditorDeletesTheFile(t *testing.T) {
	cmd, result, err := External(t.TempDir(), lookpath.Search{}, []string{"rm"}, nil, "a", "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := result(); err == nil {
		t.Error("no error")
	}
}

// TestWordsOfAnEditor: an editor in a folder with blanks is one word.
func TestWordsOfAnEditor(t *testing.T) {
	spaced := filepath.Join(t.TempDir(), "Program Files", "my editor")
	scratch.Write(t, spaced, "")
	for _, c := range []struct {
		line    string
		windows bool
		want    []string
	}{
		{"vim", false, []string{"vim"}},
		{"  code  --wait\t", false, []string{"code", "--wait"}},
		{spaced, false, []string{spaced}},
		{spaced, true, []string{spaced}},
		{" " + spaced + "  --wait 'x y'", false, []string{spaced, "--wait", "x y"}},
		{spaced + ` --wait "x y"`, true, []string{spaced, "--wait", "x y"}},
		{`"/a b/c" -w 'x y' z""`, false, []string{"/a b/c", "-w", "x y", "z"}},
		{`/a\ b/c -w`, false, []string{"/a b/c", "-w"}},
		{`'a\b' "c\"d"`, false, []string{`a\b`, `c"d`}},
		{`"C:\Program Files\VS Code\code.cmd" --wait`, true, []string{`C:\Program Files\VS Code\code.cmd`, "--wait"}},
		{`C:\bin\it's.exe -x`, true, []string{`C:\bin\it's.exe`, "-x"}},
		{`""`, false, []string{""}},
		{" ", false, nil},
	} {
		if got := words(c.line, c.windows); !slices.Equal(got, c.want) {
			t.Errorf("%s (Windows: %v) is %q, want %q", c.line, c.windows, got, c.want)
		}
	}
}
