package promptline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bb2d0cf4/agent/internal/repl/input"
)

// Prompts of this folder are told from others.
func TestHistory(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"/a", "/b"} {
		if err := NewHistory(home, dir).Add("in " + dir); err != nil {
			t.Fatal(err)
		}
	}
	got, err := NewHistory(home, "/b").Entries()
	if err != nil {
		t.Fatal(err)
	}
	want := []input.Entry{{Text: "in /a"}, {Text: "in /b", Here: true}}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(input.Entry{})); d != "" {
		t.Error(d)
	}
}
