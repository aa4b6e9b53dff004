package printer

import (
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Thought prints a model's reasoning as one line: its first line, the time and the tokens.
// took is negative if unknown. Blank reasoning is not printed.
func (p *Printer) Thought(text string, took time.Duration) {
	short, ok := theme.Shorten(text)
	if !ok {
		return
	}
	text = strings.TrimSpace(text)
	b := thoughtBlock{line: sanitize.Line(short.Line), more: short.More, took: took, tokens: short.Tokens, first: !p.calls}
	p.Record.Thought(text, b.folded(p.Look))
	p.put(len(b.line), b.lines)
	p.calls = true
}

// thoughtColumns is the minimum of a thought's first line that is visible.
const thoughtColumns = 12

// thoughtBlock is the printed form of a model's reasoning.
type thoughtBlock struct {
	line   string
	more   bool // lines follow
	took   time.Duration
	tokens int64 // estimated
	first  bool  // not below a call or another thought
}

// measure returns the time and the tokens.
func (b thoughtBlock) measure() string {
	text := fmt.Sprintf(" · ~%s tokens", theme.Count(b.tokens))
	if b.took >= 0 {
		text = " · " + theme.Seconds(b.took) + text
	}
	return text
}

// folded reports whether the screen shows only a part.
func (b thoughtBlock) folded(look theme.Look) bool {
	return b.more || cells.Width("◌ "+b.line+b.measure()) > look.Width
}

func (b thoughtBlock) lines(look theme.Look) []string {
	var lines []string
	if b.first {
		lines = append(lines, "")
	}
	after := b.measure()
	if b.folded(look) && look.Keys.Whole != "" {
		after += ", " + look.Keys.Whole
	}
	line := theme.Short(b.line, max(thoughtColumns, look.Width-cells.Width("◌ "+after)))
	return append(lines, theme.Paint(look.Styles.Dim, theme.Short("◌ "+line+after, look.Width)))
}
