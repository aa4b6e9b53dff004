package edit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The largest paste shown as it is.
const (
	maxShownLines = 10
	maxShownChars = 2000
)

// Tidy reduces pasted text to characters that can be typed: lines end in \n, and tab is the only other
// control character.
func Tidy(s string) string {
	if !strings.ContainsFunc(s, unwanted) && utf8.ValidString(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case unwanted(r):
			return -1
		}
		return r
	}, s)
}

func unwanted(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// folds reports whether text is too long to show, and returns its number of lines.
func folds(text string) (lines int, fold bool) {
	lines = 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
	return lines, lines > maxShownLines || len(text) > maxShownChars && utf8.RuneCountInString(text) > maxShownChars
}

// fold returns a placeholder glyph for text; n makes it unique at the prompt.
func fold(text string, lines, n int) Glyph {
	size := grouped(lines) + " lines"
	if lines <= maxShownLines {
		size = grouped(utf8.RuneCountInString(text)) + " characters"
	}
	show := fmt.Sprintf("[pasted %s #%d]", size, n)
	return Glyph{Text: text, Show: show, Width: len(show), Folded: true}
}

// grouped formats n with commas between groups of three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
