package command

import (
	"fmt"
	"strings"
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

// The usage of sub-agents is listed below that of the session.
func TestCostOfHelpers(t *testing.T) {
	var helpers []Helper
	for i := range 22 {
		helpers = append(helpers, Helper{fmt.Sprintf("task: part %d", i), llm.Usage{Input: 1000, Output: 10, CostUSD: 0.002}})
	}
	lines := strings.Split(Cost(Spending{Total: llm.Usage{Input: 30000, Output: 500, CostUSD: 0.5}, Helpers: helpers}, false), "\n")
	want := []string{"Of these, 22 sub-agents: 22.0k tokens in, 220 out, $0.0440", "  2 earlier ones", "  task: part 2: 1.0k tokens in, 10 out, $0.0020"}
	if d := cmp.Diff(want, lines[1:4]); d != "" || len(lines) != 23 || !strings.HasPrefix(lines[0], "30.0k tokens in") {
		t.Error(d, lines)
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
		if d := cmp.Diff(want, Cost(Spending{Total: u}, false)); d != "" {
			t.Error(d)
		}
	}
}

// The cost is told by part of the input, model, turn and day.
func TestCostIsDrawn(t *testing.T) {
	s := Spending{Total: llm.Usage{Input: 90_000, Output: 2000, Cached: 67_500, Written: 18_000, CostUSD: 0.3}, Today: 1.25, Limit: 5}
	s.Answered("a/one", llm.Usage{Input: 40_000, Output: 1000, CostUSD: 0.1})
	s.Answered("b/two", llm.Usage{Input: 40_000, Output: 500, CostUSD: 0.1})
	s.Answered("b/two", llm.Usage{Input: 10_000, Output: 500, CostUSD: 0.1})
	for i := range 7 {
		s.Turn(llm.Usage{}, llm.Usage{Input: int64(i), Output: 1})
	}
	want := `90.0k tokens in (67.5k read from the cache, 18.0k written to it, 4.5k uncached), 2.0k out, $0.3000; the cache saved reading 67.5k tokens again
cache read     ███████▌░░  67.5k  75%
cache written  ██░░░░░░░░  18.0k  20%
uncached       ▌░░░░░░░░░   4.5k   5%
By model:
  a/one: 40.0k tokens in, 1.0k out, $0.1000
  b/two: 50.0k tokens in, 1.0k out, $0.2000
The last 5 turns:
  2 tokens in, 1 out
  3 tokens in, 1 out
  4 tokens in, 1 out
  5 tokens in, 1 out
  6 tokens in, 1 out
Today: $1.25 of $5.00 (25%)  ██▌░░░░░░░`
	if d := cmp.Diff(want, Cost(s, true)); d != "" {
		t.Error(d)
	}
	if flat := Cost(s, false); strings.ContainsAny(flat, "█░") || !strings.Contains(flat, "Today: $1.25 of $5.00") {
		t.Error(flat)
	}
}
