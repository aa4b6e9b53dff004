package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][2]string{
		"/undo":            {"undo"},
		"/undo turn":       {"undo", "turn"},
		"/ide  connect 2 ": {"ide", "connect 2"},
		"/a:b x":           {"a:b", "x"},
		"/":                {},
	} {
		name, args, ok := Split(line)
		if d := cmp.Diff(want, [2]string{name, args}); !ok || d != "" {
			t.Errorf("%q: %v %s", line, ok, d)
		}
	}
	for _, line := range []string{"", "undo", " /undo", "/etc/hosts is what?", "/a.txt", "/two\nlines"} {
		if name, args, ok := Split(line); ok {
			t.Errorf("%q is taken for the command %q %q", line, name, args)
		}
	}
}

func TestHelpIsGrouped(t *testing.T) {
	got := Help(Sort([]Command{
		{Name: "quit", Help: "leave", Group: Program},
		{Name: "clear", Help: "begin a new session", Group: Sessions},
		{Name: "resume", Args: "[id]", Help: "go on with another session", Group: Sessions},
	}), 40)
	want := `Sessions
  /clear        begin a new session
  /resume [id]  go on with another
                session
Program
  /quit  leave
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMarkdown(t *testing.T) {
	got := Markdown([]Command{{Name: "a", Args: "[x|y]", Help: "does it", Group: Program}, {Name: "b", Help: "that", Group: Changes}})
	want := "### Changes\n\n| Command | Does |\n|---|---|\n| `/b` | that |\n\n### Program\n\n| Command | Does |\n|---|---|\n| `/a [x\\|y]` | does it |\n\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
