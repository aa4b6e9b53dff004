package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
)

// literal is an ASCII text that a matching line must contain, in lower case and in any
// case if fold is set.
type literal struct {
	text string
	fold bool
	// rare is the index of the probably rarest byte in text.
	rare int
}

// maxAlternatives bounds the number of alternative literals.
const maxAlternatives = 8

// required returns literals of which every matching line contains at least one; none if
// the expression requires none.
func required(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		return literalOf(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if lits := required(sub); better(lits, best) {
				best = lits
			}
		}
		return best
	case syntax.OpAlternate:
		return anyOf(re.Sub)
	}
	return nil
}

func anyOf(subs []*syntax.Regexp) []literal {
	var all []literal
	for _, sub := range subs {
		lits := required(sub)
		if len(lits) == 0 || len(all)+len(lits) > maxAlternatives {
			return nil
		}
		all = append(all, lits...)
	}
	return all
}

// better reports whether a is preferable to b: few and long literals are rare.
func better(a, b []literal) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) > 0
	}
	return shortest(a)*len(b) > shortest(b)*len(a)
}

func shortest(lits []literal) int {
	n := len(lits[0].text)
	for _, l := range lits {
		n = min(n, len(l.text))
	}
	return n
}

// literalOf returns the longest part of runes that has the same bytes in every matching
// line: ASCII, with fold except k and s, which have case variants outside ASCII.
func literalOf(runes []rune, fold bool) []literal {
	var best, run strings.Builder
	keep := func() {
		if run.Len() > best.Len() {
			best.Reset()
			best.WriteString(run.String())
		}
		run.Reset()
	}
	for _, r := range runes {
		if fold && r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		if r >= 0x80 || (fold && (r == 'k' || r == 's')) {
			keep()
			continue
		}
		run.WriteByte(byte(r))
	}
	keep()
	if best.Len() == 0 {
		return nil
	}
	return []literal{newLiteral(best.String(), fold)}
}

// common lists frequent bytes of source text, most frequent first.
const common = " e\ntaoinrs\tlcdup,.m()f=_g\"hby/:-v0w1xk"

func newLiteral(text string, fold bool) literal {
	l := literal{text: text, fold: fold}
	rank := -1
	for i := range len(text) {
		at := strings.IndexByte(common, text[i])
		if at < 0 {
			at = len(common)
		}
		if at > rank {
			l.rare, rank = i, at
		}
	}
	return l
}

// index returns the first index of l in data, or -1.
func (l literal) index(data []byte) int {
	if !l.fold {
		return bytes.Index(data, []byte(l.text))
	}
	if len(data) < len(l.text) {
		return -1
	}
	low := l.text[l.rare]
	high := low
	if low >= 'a' && low <= 'z' {
		high = low - ('a' - 'A')
	}
	// Both cases of the rare byte are searched for with optimised functions; a case that
	// does not occur again is not searched for twice.
	end := len(data) - len(l.text) + l.rare + 1
	nextLow, nextHigh := -1, -1
	for at := l.rare; at < end; at++ {
		nextLow = nextByte(data[:end], low, at, nextLow)
		nextHigh = nextByte(data[:end], high, at, nextHigh)
		at = min(nextLow, nextHigh)
		if at == end {
			return -1
		}
		if start := at - l.rare; equalFold(data[start:start+len(l.text)], l.text) {
			return start
		}
	}
	return -1
}

// nextByte returns the first index of c in data from at on, or len(data). known is the
// result for an earlier at, or -1.
func nextByte(data []byte, c byte, at, known int) int {
	if known >= at {
		return known
	}
	if i := bytes.IndexByte(data[at:], c); i >= 0 {
		return at + i
	}
	return len(data)
}

// equalFold compares data with text, which is lower-case ASCII.
func equalFold(data []byte, text string) bool {
	for i, c := range data {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != text[i] {
			return false
		}
	}
	return true
}
