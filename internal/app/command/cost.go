package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// Helper is the usage of a sub-agent, which is part of a session's, or of a model.
type Helper struct {
	Title string
	Used  llm.Usage
}

// maxHelpers is how many sub-agents Cost lists.
const maxHelpers = 20

// maxTurns is how many turns Cost lists.
const maxTurns = 5

// Spending is the usage of a session. All but Total counts since the session was opened.
type Spending struct {
	Total   llm.Usage
	Helpers []Helper    // the sub-agents that have ended
	Models  []Helper    // the usage by model, without that of sub-agents
	Turns   []llm.Usage // the latest ones
	// Today is the cost of all sessions of the day, and Limit its limit; zero for none.
	Today, Limit float64
}

// Answered adds the usage of an answer of a model.
func (s *Spending) Answered(model string, u llm.Usage) {
	i := slices.IndexFunc(s.Models, func(h Helper) bool { return h.Title == model })
	if i < 0 {
		i, s.Models = len(s.Models), append(s.Models, Helper{Title: model})
	}
	s.Models[i].Used = s.Models[i].Used.Add(u)
}

// Turn adds a turn by the usage of the session before and after it.
func (s *Spending) Turn(was, t llm.Usage) {
	turn := llm.Usage{Input: t.Input - was.Input, Output: t.Output - was.Output, CostUSD: t.CostUSD - was.CostUSD}
	s.Turns = append(s.Turns[max(0, len(s.Turns)-maxTurns+1):], turn)
}

// Cost formats the usage of a session: in all, by model, by turn, of the day and by sub-agent, the
// newest last. drawn adds bars.
func Cost(s Spending, drawn bool) string {
	lines := []string{costLine(s.Total)}
	if drawn {
		lines = append(lines, s.bars()...)
	}
	if len(s.Models) > 1 {
		lines = append(lines, "By model:")
		for _, m := range s.Models {
			lines = append(lines, "  "+m.Title+": "+brief(m.Used))
		}
	}
	if n := len(s.Turns); n > 0 {
		lines = append(lines, strings.Replace("The last "+plural.Of(n, "turn")+":", "last 1 ", "last ", 1))
		for _, t := range s.Turns {
			lines = append(lines, "  "+brief(t))
		}
	}
	if s.Limit > 0 {
		line := fmt.Sprintf("Today: $%.2f of $%.2f (%.0f%%)", s.Today, s.Limit, 100*s.Today/s.Limit)
		if drawn {
			line += "  " + theme.Bar(int64(1000*min(s.Today, s.Limit)), max(1, int64(1000*s.Limit)), costBar)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + listHelpers(s.Helpers)
}

// costBar is the width of a bar.
const costBar = 10

// bars draws the parts of the input.
func (s Spending) bars() []string {
	u := s.Total
	if u.Cached+u.Written == 0 {
		return nil
	}
	var rows [][]string
	for _, p := range []struct {
		name   string
		tokens int64
	}{{"cache read", u.Cached}, {"cache written", u.Written}, {"uncached", max(0, u.Input-u.Cached-u.Written)}} {
		rows = append(rows, []string{p.name, theme.Bar(min(p.tokens, u.Input), u.Input, costBar), theme.Count(p.tokens), fmt.Sprintf("%d%%", p.tokens*100/u.Input)})
	}
	return theme.Table(rows, 2, 3)
}

// listHelpers lists the usage of sub-agents, each line after a newline.
func listHelpers(helpers []Helper) string {
	if len(helpers) == 0 {
		return ""
	}
	var sum llm.Usage
	for _, h := range helpers {
		sum = sum.Add(h.Used)
	}
	s := "\nOf these, " + plural.Of(len(helpers), "sub-agent") + ": " + brief(sum)
	if more := len(helpers) - maxHelpers; more > 0 {
		s += fmt.Sprintf("\n  %d earlier ones", more)
		helpers = helpers[more:]
	}
	for _, h := range helpers {
		s += "\n  " + h.Title + ": " + brief(h.Used)
	}
	return s
}

func brief(u llm.Usage) string {
	s := fmt.Sprintf("%s tokens in, %s out", theme.Count(u.Input), theme.Count(u.Output))
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	return s
}

// costLine formats the usage of a session in a line.
func costLine(u llm.Usage) string {
	s := fmt.Sprintf("%s tokens in (%s read from the cache, %s written to it, %s uncached), %s out", theme.Count(u.Input),
		theme.Count(u.Cached), theme.Count(u.Written), theme.Count(u.Input-u.Cached-u.Written), theme.Count(u.Output))
	if u.Searches > 0 {
		s += fmt.Sprintf(", web searches: %d", u.Searches)
	}
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	switch {
	case u.SavedUSD > 0:
		s += fmt.Sprintf("; the cache saved $%.4f", u.SavedUSD)
	case u.SavedUSD < 0:
		s += fmt.Sprintf("; the cache has cost $%.4f more than it saved", -u.SavedUSD)
	case u.Cached > 0:
		s += fmt.Sprintf("; the cache saved reading %s tokens again", theme.Count(u.Cached))
	}
	if u.Estimated {
		s += " (estimated: the provider reports no usage)"
	}
	return s
}
