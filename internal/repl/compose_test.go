package repl

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/input"
)

func TestAnEditorThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	ed := input.New(input.Options{})
	ed.Paste("draft")
	open := func(string, string) (*exec.Cmd, func() (string, error), error) {
		return nil, nil, errors.New("no editor")
	}
	res, ok := compose(ed, open, nil)().(composedMsg)
	if problem := res.Put(ed); !ok || problem != "no editor" || ed.Text() != "draft" {
		t.Errorf("%q, prompt %q", problem, ed.Text())
	}
}

// The editor gets the prompt with its placeholders, and the terminal.
func TestEditorGetsTheTerminal(t *testing.T) {
	t.Parallel()
	ed := input.New(input.Options{})
	ed.Paste(strings.Repeat("line\n", 20))
	var name, text string
	var lent *exec.Cmd
	want := exec.Command("true")
	open := func(n, s string) (*exec.Cmd, func() (string, error), error) {
		name, text = n, s
		return want, nil, nil
	}
	cmd := compose(ed, open, func(cmd *exec.Cmd) tea.ExecCommand {
		lent = cmd
		return nil
	})
	if cmd == nil || lent != want || name != "prompt.md" || text != "[pasted 20 lines #1]" {
		t.Errorf("lent to %v, %s: %q", lent, name, text)
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	begin := func(f func(context.Context)) context.CancelFunc {
		f(t.Context())
		return func() {}
	}
	ed := input.New(input.Options{})
	ed.Paste("see ")
	for _, c := range []struct {
		mark          string
		err           error
		text, problem string
	}{
		{"", errors.New("there is none"), "see ", "No image was attached: there is none."},
		{"[image 1]", nil, "see [image 1]", ""},
	} {
		res, ok := pasteImage(begin, func(context.Context) (string, error) { return c.mark, c.err })().(composedMsg)
		if problem := res.Put(ed); !ok || problem != c.problem || ed.Text() != c.text {
			t.Errorf("%q, prompt %q", problem, ed.Text())
		}
	}
}
