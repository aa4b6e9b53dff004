package printer

import (
	"math"

	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

const (
	// maxKept is how much of what was printed can be printed again, in bytes of what
	// it was made from; maxBlocks in blocks.
	maxKept   = 256 << 10
	maxBlocks = 2000
	// maxLines is how many lines are printed again.
	maxLines = 2000
)

// block is something finished, as lines for a look.
type block func(look theme.Look) []string

// log is what was printed last.
type log struct {
	entries []logged
	size    int
	dropped bool // more was printed before
}

type logged struct {
	size int
	block
}

func (l *log) add(size int, b block) {
	l.entries = append(l.entries, logged{size, b})
	l.size += size
	cut := 0
	for ; (l.size > maxKept || len(l.entries)-cut > maxBlocks) && cut < len(l.entries)-1; cut++ {
		l.size -= l.entries[cut].size
	}
	if cut > 0 {
		l.dropped = true
		l.entries = append([]logged(nil), l.entries[cut:]...) // the array of the old ones goes, too
	}
}

// lines are the last lines of the log in a look.
func (l *log) lines(look theme.Look) []string {
	dropped := l.dropped
	var parts [][]string
	n := 0
	for i := len(l.entries) - 1; i >= 0; i-- {
		part := l.entries[i].block(look)
		if n+len(part) > maxLines {
			part, dropped = part[min(len(part), n+len(part)-maxLines):], true
		}
		if len(part) == 0 {
			break
		}
		parts = append(parts, part)
		n += len(part)
	}
	lines := make([]string, 0, n+1)
	if dropped {
		line := "… earlier: /export writes the whole conversation"
		if key := look.Keys.Whole; key != "" {
			line += ", " + key + " shows it"
		}
		lines = append(lines, theme.Paint(look.Styles.Dim, theme.Short(line, look.Width)))
	}
	for i := len(parts) - 1; i >= 0; i-- {
		lines = append(lines, parts[i]...)
	}
	return lines
}

// Reprint clears the screen and prints the end of the conversation again, as it looks
// at the width and in the theme of now, and then more, the lines of an answer that is
// coming in.
func (p *Printer) Reprint(more []string) {
	p.Screen.Clear()
	p.Repeat(more, math.MaxInt)
}

// Repeat is Reprint without clearing the screen, for at most the given number of lines.
// It suits a terminal whose size may change again at once: what is on it scrolls away.
func (p *Printer) Repeat(more []string, limit int) {
	lines := p.log.lines(p.Look)
	if len(more) > 0 {
		lines, p.calls = append(lines, more...), false
	}
	p.Screen.Print(lines[max(0, len(lines)-limit):]...)
}

// Forget begins anew: what was printed belongs to another session.
func (p *Printer) Forget() { p.log = log{} }
