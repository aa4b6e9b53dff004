package picker

import (
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// texts holds additional text for the filter.
type texts struct {
	all   []string
	lower []string    // in lower case
	hits  map[int]hit // items that match only there
}

// hit is the position of a match.
type hit struct{ at, size int } // bytes of the lower-case text

// Index adds text for the filter: one per item, in order. The item under the cursor stays
// there.
func (p *Picker) Index(all []string) {
	under, some := p.Selected()
	p.texts = texts{all: all, lower: make([]string, len(all)), hits: map[int]hit{}}
	for i, t := range all {
		p.texts.lower[i] = strings.ToLower(t)
	}
	if top := p.top; some {
		p.SetFilter(p.filter)
		p.top = top
		for i, m := range p.matches {
			if m.Index == under {
				p.cursor = i
			}
		}
		return
	}
	p.SetFilter(p.filter)
}

// has reports whether the text of an item contains needle, which is in lower case.
func (t *texts) has(i int, needle string) bool {
	if i >= len(t.lower) {
		return false
	}
	at := strings.Index(t.lower[i], needle)
	if at >= 0 {
		t.hits[i] = hit{at, len(needle)}
	}
	return at >= 0
}

// Length of the text shown around a match, in characters.
const (
	before = 16
	after  = 40
)

// passage returns the matching part of an item's text in its original case: lower case has as
// many characters.
func (t *texts) passage(i int, h hit) []paint.Span {
	start := utf8.RuneCountInString(t.lower[i][:h.at])
	end := start + utf8.RuneCountInString(t.lower[i][h.at:h.at+h.size])
	from, to, n := max(0, start-before), end+after, 0
	var head, match, tail strings.Builder
	for _, r := range t.all[i] {
		switch {
		case n >= end:
			tail.WriteRune(r)
		case n >= start:
			match.WriteRune(r)
		case n >= from:
			head.WriteRune(r)
		}
		if n++; n >= to {
			break
		}
	}
	line := func(s string) string { return sanitize.Line(strings.ReplaceAll(s, "\n", " ")) }
	lead := "  "
	if from > 0 {
		lead += "…"
	}
	return []paint.Span{
		{Text: lead + line(head.String()), Style: theme.Dim},
		{Text: line(match.String()), Style: theme.Match.Over(theme.Dim)},
		{Text: line(tail.String()), Style: theme.Dim},
	}
}
