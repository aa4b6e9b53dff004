package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
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

func TestCost(t *testing.T) {
	for want, u := range map[string]llm.Usage{
		"1.2k tokens in (0 read from the cache, 0 written to it, 1.2k uncached), 5 out":                                                                  {Input: 1200, Output: 5},
		"90.0k tokens in (70.0k read from the cache, 15.0k written to it, 5.0k uncached), 2.0k out, $0.1000; the cache saved $0.2000":                    {Input: 90_000, Output: 2000, Cached: 70_000, Written: 15_000, CostUSD: 0.1, SavedUSD: 0.2},
		"90.0k tokens in (0 read from the cache, 15.0k written to it, 75.0k uncached), 2.0k out, $0.3000; the cache has cost $0.0100 more than it saved": {Input: 90_000, Output: 2000, Written: 15_000, CostUSD: 0.3, SavedUSD: -0.01},
		"90.0k tokens in (70.0k read from the cache, 0 written to it, 20.0k uncached), 2.0k out; the cache saved reading 70.0k tokens again":             {Input: 90_000, Output: 2000, Cached: 70_000},
		"10 tokens in (0 read from the cache, 0 written to it, 10 uncached), 1 out (estimated: the provider reports no usage)":                           {Input: 10, Output: 1, Estimated: true},
	} {
		if d := cmp.Diff(want, Cost(u)); d != "" {
			t.Error(d)
		}
	}
}
