package tools

import (
	"errors"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestRemember(t *testing.T) {
	long := strings.Repeat("x", maxRemembered)
	for name, c := range map[string]struct {
		files      map[string]string
		text, want string // of AGENTS.md or, if it is missing, of CLAUDE.md
	}{
		"a new file":     {nil, "use tabs", "- use tabs\n"},
		"a list":         {map[string]string{"AGENTS.md": "# P\n\ntext"}, "- one\n\n  - two \nthree", "# P\n\ntext\n- one\n  - two\n- three\n"},
		"the other name": {map[string]string{"CLAUDE.md": "a\r\nb\r\n"}, "use tabs", "a\r\nb\r\n- use tabs\r\n"},
		"both names":     {map[string]string{"AGENTS.md": "a\n", "CLAUDE.md": "b\n"}, "use tabs", "a\n- use tabs\n"},
		"one of two":     {map[string]string{"AGENTS.md": "- a\n"}, "a\nb", "- a\n- b\n"},
		"there already":  {map[string]string{"AGENTS.md": "- a\r\n"}, "a", "- a\r\n"},
		"nothing":        {map[string]string{"AGENTS.md": "a\n"}, " \n", "a\n"},
		"too much":       {map[string]string{"AGENTS.md": "a\n"}, long, "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.files)
			b.call("remember", m{"text": c.text})
			file := "AGENTS.md"
			if c.files["AGENTS.md"] == "" && c.files != nil {
				file = "CLAUDE.md"
			}
			if got := b.read(file); got != c.want {
				t.Errorf("%q", got)
			}
			changed := c.want != c.files[file]
			if len(b.ask.asked) == 1 != changed {
				t.Fatalf("%d questions", len(b.ask.asked))
			}
			if changed {
				if q := b.ask.asked[0]; !q.Person || !q.Force || !strings.HasPrefix(q.Notes[0].Text, "Remember this?") {
					t.Errorf("%+v", q)
				}
			}
		})
	}
}

func TestRememberEverywhere(t *testing.T) {
	b := newBench(t, nil)
	b.want(b.call("remember", m{"text": "a", "everywhere": true}), true, "cannot be opened", "Nothing was changed")
	own := scratch.Workspace(t, scratch.Dir(t, nil), workspace.Options{Home: t.TempDir()})
	b.deps.Mine = func() (*workspace.Root, error) { return own, nil }
	b.set = NewSet(b.deps)
	b.want(b.call("remember", m{"text": "a", "everywhere": true}), false, "AGENTS.md")
	if got := scratch.Read(t, own.Dir()+"/AGENTS.md"); got != "- a\n" || !strings.Contains(b.ask.asked[0].Notes[0].Text, "your own AGENTS.md") {
		t.Errorf("%q, %+v", got, b.ask.asked[0].Notes)
	}
	b.deps.Mine = func() (*workspace.Root, error) { return nil, errors.New("no disk") }
	b.set = NewSet(b.deps)
	b.want(b.call("remember", m{"text": "a", "everywhere": true}), true, "no disk")
}
