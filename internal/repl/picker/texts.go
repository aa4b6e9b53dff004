package picker

import (
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// texts is what the filter looks into beside what is shown.
type texts struct {
	all   []string
	lower []string    // for the search
	hits  map[int]hit // the items that match there alone
}

// hit is where a text matches.
type hit struct{ at, size int } // bytes of the lower-case text

// Index gives the filter more to look into: a text for each item, in their order. The
// item under the cursor stays there.
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

// has says whether the text of an item holds needle, which is in lower case.
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

// What of a text is shown around a match, in characters.
const (
	before = 16
	after  = 40
)

// passage is where the text of an item matches, as it was written: lower case has as
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
		{Text: lead + line(head.String()), Style: styleDim},
		{Text: line(match.String()), Style: styleMatch.Over(styleDim)},
		{Text: line(tail.String()), Style: styleDim},
	}
}
