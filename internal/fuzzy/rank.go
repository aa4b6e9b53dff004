package fuzzy

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Match is a text that contains the letters of a query.
type Match struct {
	Index int   // of the text
	At    []int // offsets in bytes of the characters that match
}

// Rank returns the texts that contain the letters of query in order, best first, and
// equally good ones in the given order. Unlike Find, it ignores the case of all letters.
func Rank(query string, texts []string) []Match {
	type ranked struct {
		Match
		match
	}
	var all []ranked
	var m matrix
	a := newAlphabet(query)
	query, _ = a.encode(lowerASCII(query))
	for i, text := range texts {
		coded, offsets := a.encode(text)
		if query == "" || seen(query, coded) < 0 {
			continue
		}
		rank := m.match(query, coded)
		at := make([]int, len(m.at))
		for q, c := range m.at {
			at[q] = offsets[c]
		}
		all = append(all, ranked{Match{i, at}, rank})
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.part, b.part), cmp.Compare(len(a.path), len(b.path)))
	})
	out := make([]Match, len(all))
	for i, r := range all {
		out[i] = r.Match
	}
	return out
}

// alphabet assigns a byte beyond ASCII to the characters beyond ASCII of a query, so that
// comparing bytes compares characters.
type alphabet map[rune]byte

// other represents all characters beyond ASCII that the query lacks.
const other = 0xff

func newAlphabet(query string) alphabet {
	a := alphabet{}
	for _, r := range query {
		r = unicode.ToLower(r)
		if _, known := a[r]; r >= utf8.RuneSelf && !known && utf8.RuneSelf+len(a) < other {
			a[r] = byte(utf8.RuneSelf + len(a))
		}
	}
	return a
}

// encode returns s with one byte for each character, and the offsets of these in s.
func (a alphabet) encode(s string) (coded string, offsets []int) {
	b := make([]byte, 0, len(s))
	for i, r := range s {
		c, known := a[unicode.ToLower(r)]
		switch {
		case r < utf8.RuneSelf:
			c = byte(r)
		case !known:
			c = other
		}
		b, offsets = append(b, c), append(offsets, i)
	}
	return string(b), offsets
}
