package edit

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// piece is a normalized run of a text and its source bytes. If out has one byte for each
// source byte, parts of it can be mapped back; otherwise only all of it.
type piece struct {
	out      string
	from, to int
}

// pieces yields the form of s that stage compares, in order and without what the stage
// ignores. It is for the stages Blanks, Spacing and Punctuation.
func pieces(s string, stage Stage) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		for i := 0; i < len(s); {
			p := nextPiece(s, i, stage)
			if p.out != "" && !yield(p) {
				return
			}
			i = p.to
		}
	}
}

func nextPiece(s string, i int, stage Stage) piece {
	end := i
	for end < len(s) && isBlank(s[end]) {
		end++
	}
	if end > i {
		return blankRun(s, i, end, stage)
	}
	if s[i] >= utf8.RuneSelf && stage == Punctuation {
		r, size := utf8.DecodeRuneInString(s[i:])
		if simple := plainPunctuation(r); simple != "" {
			return piece{simple, i, i + size}
		}
		return piece{s[i : i+size], i, i + size}
	}
	for end < len(s) && !isBlank(s[end]) && (s[end] < utf8.RuneSelf || stage != Punctuation) {
		end++
	}
	return piece{s[i:end], i, end}
}

// blankRun returns the piece for the blanks s[i:end], which is empty at the end of a
// line, and for Spacing one blank unless it is the indentation.
func blankRun(s string, i, end int, stage Stage) piece {
	if end == len(s) || s[end] == '\n' {
		return piece{"", i, end}
	}
	if stage == Spacing && i > 0 && s[i-1] != '\n' {
		return piece{" ", i, end}
	}
	return piece{s[i:end], i, end}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// plainPunctuation returns the ASCII form of a typographic character, or "".
func plainPunctuation(r rune) string {
	switch r {
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212':
		return "-"
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032':
		return "'"
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033':
		return `"`
	case '\u00a0', '\u202f', '\u205f', '\u3000':
		return " "
	}
	if r >= '\u2000' && r <= '\u200a' {
		return " "
	}
	return ""
}

// plain returns s in the form that stage compares.
func plain(s string, stage Stage) string {
	var b strings.Builder
	b.Grow(len(s))
	for p := range pieces(s, stage) {
		b.WriteString(p.out)
	}
	return b.String()
}

// origins maps offsets in plain(s, stage) back to s, in one pass. Blanks that plain leaves out
// belong to the next character.
func origins(s string, stage Stage, offsets []int) map[int]int {
	offsets = slices.Sorted(slices.Values(offsets))
	out := map[int]int{0: 0}
	at, i := 0, 0
	for p := range pieces(s, stage) {
		for ; i < len(offsets) && offsets[i] <= at+len(p.out); i++ {
			if n := offsets[i] - at; n > 0 {
				out[offsets[i]] = p.end(n)
			}
		}
		if i == len(offsets) {
			break
		}
		at += len(p.out)
	}
	return out
}

// end maps the end of a range in out, which is not empty, to one in the source.
func (p piece) end(n int) int {
	if len(p.out) == p.to-p.from {
		return p.from + n
	}
	return p.to
}
