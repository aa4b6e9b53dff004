package compact

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/session/history"
)

// Compose returns the compaction with its summary.
func (p *Plan) Compose(summary string) history.Compaction {
	summary = strings.TrimSpace(history.Valid(summary))
	if summary == "" {
		summary = "(nothing)"
	}
	if bound := p.room.summary(); len(summary) > 2*bound {
		summary = history.Clip(summary, 2*bound)
	}
	return history.Compaction{
		Before: p.from, Last: p.last, Clip: p.clip, Summary: summary, Text: p.text(summary),
	}
}

// Rewrite returns c with another summary.
func Rewrite(c history.Compaction, summary string) history.Compaction {
	summary = strings.TrimSpace(history.Valid(summary))
	_, rest, _ := strings.Cut(strings.TrimPrefix(c.Text, opening+c.Summary), endOfSummary)
	c.Text, c.Summary = opening+summary+endOfSummary+rest, summary
	return c
}

const (
	opening = "[The earlier part of this conversation was taken out to make room. This stands in its place.]\n\n" +
		"# Summary of what was said\n\n"
	endOfSummary = "\n\n[End of the summary. What follows is exact.]\n"
)

// text is what the model is sent in the place of what is gone.
func (p *Plan) text(summary string) string {
	var b strings.Builder
	b.WriteString(opening + summary + endOfSummary)
	section := func(title, body string) {
		if body != "" {
			b.WriteString("\n# " + title + "\n\n" + body + "\n")
		}
	}
	section("What was changed, run and refused so far, in order", Ledger(p.items, p.room.ledger()))
	section("Pinned by the user, word for word", p.pinned())
	section("The prompt that you are working on, word for word", within(p.prompt, p.room.prompt()))
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// pinned are the pinned messages that are gone, the newest whole.
func (p *Plan) pinned() string {
	var all []string
	left := p.room.pinned()
	for i := len(p.items) - 1; i >= 0; i-- {
		if !p.items[i].Pinned {
			continue
		}
		s := within(p.items[i].Message.Said(), max(left, 200))
		left -= len(s)
		all = append([]string{s}, all...)
	}
	return strings.Join(all, "\n\n---\n\n")
}

// within returns s, cut in its middle if it has more than n bytes.
func within(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return history.Clip(s, n)
}
