package printer

import (
	"math"

	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

const (
	// maxKept and maxBlocks bound the printed blocks kept for reprinting, by the bytes of
	// their source and by number.
	maxKept   = 256 << 10
	maxBlocks = 2000
	// maxLines bounds the lines of a reprint.
	maxLines = 2000
)

// block renders a finished part for a look.
type block func(look theme.Look) []string

// log holds the most recent blocks.
type log struct {
	entries []logged
	size    int
	dropped bool // earlier blocks were dropped
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
		l.entries = append([]logged(nil), l.entries[cut:]...) // a copy, to free the old array
	}
}

// lines returns the last lines of the log in a look.
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

// Reprint clears the screen and prints the end of the conversation again, in the current
// width and theme, then more: the lines of an answer that is still streaming.
func (p *Printer) Reprint(more []string) {
	p.Screen.Clear()
	p.Repeat(more, math.MaxInt)
}

// Repeat is Reprint without clearing the screen, for at most limit lines. It suits a terminal
// that may be resized again at once: the screen's content scrolls away.
func (p *Printer) Repeat(more []string, limit int) {
	lines := p.log.lines(p.Look)
	if len(more) > 0 {
		lines, p.calls = append(lines, more...), false
	}
	p.Screen.Print(lines[max(0, len(lines)-limit):]...)
}

// Forget drops the log: the session has changed.
func (p *Printer) Forget() { p.log = log{} }
