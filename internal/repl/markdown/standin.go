package markdown

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// standIns replace characters about whose width terminals disagree, so that Glamour, which has a
// measure of its own, lays out a table for all of them: each cell of such a character is a
// private character, of which sanitized text has none.
type standIns struct{ texts []string }

const (
	firstStandIn, lastStandIn = 0xF0000, 0xFFFFD
	filler                    = 0x10FFFD // each further cell of the character before
)

// put returns s with stand-ins.
func (t *standIns) put(s string) string {
	if cells.Steady(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		n, w := cells.First(s)
		if id := firstStandIn + rune(len(t.texts)); w == 0 || cells.Steady(s[:n]) || id > lastStandIn {
			b.WriteString(s[:n])
		} else {
			t.texts = append(t.texts, s[:n])
			b.WriteRune(id)
			b.WriteString(strings.Repeat(string(rune(filler)), w-1))
		}
		s = s[n:]
	}
	return b.String()
}

// restore returns s with the characters themselves.
func (t *standIns) restore(s string) string {
	if len(t.texts) == 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= firstStandIn && int(r-firstStandIn) < len(t.texts):
			b.WriteString(t.texts[r-firstStandIn])
		case r != filler:
			b.WriteRune(r)
		}
	}
	return b.String()
}
