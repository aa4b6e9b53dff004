package repl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bb2d0cf4/agent/internal/repl/input"
)

// Prompts of this folder are marked.
func TestHistory(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"/a", "/b"} {
		if err := PromptHistory(home, dir).Add("in " + dir); err != nil {
			t.Fatal(err)
		}
	}
	got, err := PromptHistory(home, "/b").Entries()
	if err != nil {
		t.Fatal(err)
	}
	want := []input.Entry{{Text: "in /a"}, {Text: "in /b", Here: true}}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(input.Entry{})); d != "" {
		t.Error(d)
	}
}

// The error of a prompt that cannot be saved does not name our own files.
func TestHistoryThatCannotBeWritten(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "history"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := PromptHistory(home, "/a").Add("one")
	if err == nil || strings.Contains(err.Error(), home) || !strings.Contains(err.Error(), "later sessions") {
		t.Errorf("%v", err)
	}
}
