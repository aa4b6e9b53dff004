package compact

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/session/history"
)

// Shortens reports whether the verbatim parts do not fit unshortened, or results are cut:
// then WithFullFile should name a file with their full text.
func (p *Plan) Shortens() bool { return p.keeps.short || p.clip > 0 }

// Finish returns the compaction with its summary. full is the file with the result of
// FullText, for the model to read, or empty.
func (p *Plan) Finish(summary, full string) history.Compaction {
	summary = strings.TrimSpace(history.Valid(summary))
	if summary == "" {
		summary = "(nothing)"
	}
	if bound := p.room.summary(); len(summary) > 2*bound {
		summary = history.Clip(summary, 2*bound)
	}
	return history.Compaction{
		Before: p.from, Last: p.last, Clip: p.clip, Summary: summary, Text: p.text(summary, full), FullFile: full,
	}
}

// WithSummary returns c with another summary.
func WithSummary(c history.Compaction, summary string) history.Compaction {
	summary = strings.TrimSpace(history.Valid(summary))
	_, rest, _ := strings.Cut(strings.TrimPrefix(c.Text, opening+c.Summary), endOfSummary)
	c.Text, c.Summary = opening+summary+endOfSummary+rest, summary
	return c
}

const (
	opening = "[Earlier messages were replaced by this summary to free space.]\n\n" +
		"# Summary of what was said\n\n"
	endOfSummary = "\n\n[End of the summary. The messages below are unchanged.]\n"
)

// text returns the text that replaces the compacted messages.
func (p *Plan) text(summary, whole string) string {
	var b strings.Builder
	b.WriteString(opening + summary + endOfSummary)
	if p.keeps.short {
		b.WriteString(fileNote(whole))
	}
	section := func(title, body string) {
		if body != "" {
			b.WriteString("\n# " + title + "\n\n" + body + "\n")
		}
	}
	section("What was changed, run and refused so far, in order", p.keeps.ledger)
	section("Pinned by the user, word for word", p.keeps.pinned)
	section("The prompt that you are working on, word for word", p.keeps.prompt)
	return strings.TrimRight(b.String(), "\n") + "\n"
}
