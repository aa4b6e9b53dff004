// Package cells measures text in the cells of a terminal. It guarantees that a text is at most
// as wide as it says in every terminal: in those that count grapheme clusters (mode 2027) and
// in those that add up code points, with the tables of any version of Unicode. Only whether
// ambiguous characters are wide has to be known (WideAmbiguous). A row that holds
// by this measure is whole on the screen; one that does not may lose its end.
//
// A text is at most as wide as its parts together, wherever it is split between characters.
package cells

import (
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	textwidth "golang.org/x/text/width"
)

// emojiStyle makes the character before it wide where clusters are counted.
const emojiStyle = 0xFE0F

// Width returns the largest number of cells that s takes in a terminal. Escape sequences and
// control characters take none.
func Width(s string) int {
	n, _ := width(s, 0)
	return n
}

// width returns the width of s after the code point last, and the last one of s.
func width(s string, last rune) (int, rune) {
	n := 0
	for i := 0; i < len(s); {
		if plain(s[i]) {
			last = rune(s[i])
			n++
			i++
			continue
		}
		r, size, w := next(s[i:], last)
		n += w
		i += size
		last = r
	}
	return n, last
}

// plain reports whether c is a printable character of ASCII.
func plain(c byte) bool { return c >= ' ' && c < 0x7f }

// next returns the first code point or escape sequence of s, its size and its width after the
// code point last, which is 0 at the beginning of a text and after a sequence. Marks take a cell
// there in terminals that cannot join them to the cell before.
func next(s string, last rune) (r rune, size, width int) {
	switch c := s[0]; {
	case plain(c):
		return rune(c), 1, 1
	case c == 0x1b:
		return 0, sequence(s), 0
	case c < utf8.RuneSelf:
		return rune(c), 1, 0
	}
	r, size = utf8.DecodeRuneInString(s)
	switch {
	case r == emojiStyle:
		return r, size, 2 - Rune(last)
	case last == 0 && joins(r):
		return 0, size, max(1, Rune(r))
	}
	return r, size, Rune(r)
}

// joins reports whether a terminal may count r as nothing, wherever it is.
func joins(r rune) bool {
	return r >= 0x300 && (unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r >= 0x1160 && r < 0x1200 || r >= 0xd7b0 && r < 0xd7fc)
}

// eastern reports whether the terminal draws ambiguous characters in two cells.
var eastern atomic.Bool

// WideAmbiguous sets whether the terminal draws characters whose width is ambiguous (Greek and
// Cyrillic letters, quotation marks, line-drawing characters) in two cells, as it may for East
// Asian text. Texts laid out before have to be laid out anew.
func WideAmbiguous(on bool) { eastern.Store(on) }

// Rune returns the largest number of cells that r takes alone.
func Rune(r rune) int {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return 0
	case r >= 0xa0 && eastern.Load() && textwidth.LookupRune(r).Kind() == textwidth.EastAsianAmbiguous && !joins(r):
		return 2
	case r < 0x300:
		return 1
	case r == emojiStyle, unicode.Is(wide, r):
		return 2
	case unicode.Is(zero, r):
		return 0
	}
	return 1
}

// sequence returns the size of the escape sequence at the start of s.
func sequence(s string) int {
	_, _, n, _ := ansi.DecodeSequence(s, ansi.NormalState, nil)
	return max(1, n)
}

// Steady reports whether all terminals agree about the width of s. They disagree about emoji,
// many scripts and, when set up for East Asian text, about line-drawing characters, dots and
// accented letters.
func Steady(s string) bool {
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf, r == '❯':
		case r >= 0x3041 && r < 0x3097, r >= 0x30a1 && r < 0x30fb: // kana
		case r >= 0x4e00 && r < 0xa000, r >= 0xac00 && r < 0xd7a4: // ideographs, hangul
		default:
			return false
		}
	}
	return true
}

// Least returns a number of cells that s takes at least in every terminal.
func Least(s string) int {
	n := 0
	for s != "" {
		size, w := First(s)
		if r, _ := utf8.DecodeRuneInString(s); joins(r) || unicode.Is(unicode.Mc, r) {
			w = 0
		} else if w > 1 && !Steady(s[:size]) {
			w = 1
		}
		n += w
		s = s[size:]
	}
	return n
}

// First returns the size in bytes and the width of the first grapheme cluster of s, or of an
// escape sequence.
func First(s string) (size, width int) {
	size = first(s)
	return size, Width(s[:size])
}

// first returns the size of the first cluster or escape sequence of s.
func first(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] == 0x1b:
		return sequence(s)
	case s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf):
		return 1
	}
	cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(1, len(cluster))
}

// Fit returns the size of the longest prefix of s that takes at most room cells, and its
// width. It never splits a cluster.
func Fit(s string, room int) (size, cols int) {
	last := rune(0)
	for size < len(s) {
		if plain(s[size]) && cols < room && (size+1 == len(s) || s[size+1] < utf8.RuneSelf) {
			last = rune(s[size])
			size++
			cols++
			continue
		}
		n := first(s[size:])
		w, r := width(s[size:size+n], last)
		if cols+w > room {
			break
		}
		size += n
		cols += w
		last = r
	}
	return size, cols
}

// FitSome is Fit for a whole row: of a cluster that is wider than it, it takes the code points
// that fit, at least one.
func FitSome(s string, room int) (size, cols int) {
	if size, cols = Fit(s, room); size > 0 || s == "" {
		return size, cols
	}
	last := rune(0)
	for size < len(s) {
		r, n, w := next(s[size:], last)
		if size > 0 && cols+w > room {
			break
		}
		size += n
		cols += w
		last = r
	}
	return size, cols
}

// Truncate cuts s to room cells, ending in tail if it cut anything. It keeps all escape
// sequences.
func Truncate(s string, room int, tail string) string {
	if Width(s) <= room {
		return s
	}
	room -= Width(tail)
	if room < 0 {
		return ""
	}
	n, _ := Fit(s, room)
	return s[:n] + tail + Sequences(s[n:])
}

// Sequences returns the escape sequences in s.
func Sequences(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			return b.String()
		}
		n := sequence(s[i:])
		b.WriteString(s[i : i+n])
		s = s[i+n:]
	}
}

// Split divides s after the first n bytes that are not part of escape sequences.
func Split(s string, n int) (before, after string) {
	at := 0
	for at < len(s) && (n > 0 || s[at] == 0x1b) {
		if s[at] == 0x1b {
			at += sequence(s[at:])
			continue
		}
		at++
		n--
	}
	return s[:at], s[at:]
}

// Wrap cuts a line into rows of at most room cells. It splits a cluster only if it is wider.
func Wrap(s string, room int) []string {
	room = max(1, room)
	rows := make([]string, 0, 1+len(s)/room)
	for {
		n, _ := FitSome(s, room)
		rows = append(rows, s[:n])
		if s = s[n:]; s == "" {
			return rows
		}
	}
}
