package edit

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// piece is a normalized run of a text and its source bytes. If out is the same bytes, parts of it
// can be mapped back; otherwise only all of it.
type piece struct {
	out      string
	from, to int
}

// pieces yields the form of s that stage compares, in order and without the parts that the stage
// ignores. It is for the stages Blanks, Spacing and Typographic.
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
	for end < len(s) && !isBlank(s[end]) && (s[end] < utf8.RuneSelf || stage != Typographic) {
		end++
	}
	if end < len(s) && s[end] >= utf8.RuneSelf && stage == Typographic {
		if r, _ := utf8.DecodeRuneInString(s[end:]); end > i && unicode.Is(unicode.Mn, r) {
			end-- // the mark belongs to this character
		}
		if end == i {
			return character(s, i)
		}
	}
	return piece{s[i:end], i, end}
}

// character returns the piece for the character at s[i:], with its marks.
func character(s string, i int) piece {
	n := max(1, norm.NFC.NextBoundaryInString(s[i:], true))
	r, size := utf8.DecodeRuneInString(s[i:])
	if simple, ok := plainCharacter(r); ok && n <= size {
		return piece{simple, i, i + size}
	}
	return piece{norm.NFC.String(s[i : i+n]), i, i + n}
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

// plainCharacter returns the ASCII form of a typographic character, empty for an invisible one.
func plainCharacter(r rune) (plain string, ok bool) {
	switch r {
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212':
		return "-", true
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032':
		return "'", true
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033':
		return `"`, true
	case '\u2026':
		return "...", true
	case '\u00ad', '\u200b', '\u2060', '\ufeff':
		return "", true
	}
	return " ", unicode.Is(unicode.Zs, r)
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
// belong to the next character. It leaves out offsets inside of a character.
func origins(s string, stage Stage, offsets []int) map[int]int {
	offsets = slices.Sorted(slices.Values(offsets))
	out := map[int]int{0: 0}
	at, i := 0, 0
	for p := range pieces(s, stage) {
		for ; i < len(offsets) && offsets[i] <= at+len(p.out); i++ {
			n := offsets[i] - at
			switch whole := p.out == s[p.from:p.to]; {
			case n > 0 && whole:
				out[offsets[i]] = p.from + n
			case n == len(p.out):
				out[offsets[i]] = p.to
			}
		}
		if i == len(offsets) {
			break
		}
		at += len(p.out)
	}
	return out
}
