package edit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The largest paste that is shown as it is.
const (
	maxShownLines = 10
	maxShownChars = 2000
)

// Tidy brings pasted text to what can be typed: lines end in \n, and there is no
// other control character but the tab.
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

// folds says whether text is too long to be shown, and how many lines it has.
func folds(text string) (lines int, fold bool) {
	lines = 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
	return lines, lines > maxShownLines || len(text) > maxShownChars && utf8.RuneCountInString(text) > maxShownChars
}

// fold returns a glyph that stands for text; n tells it from others on the prompt.
func fold(text string, lines, n int) Glyph {
	size := grouped(lines) + " lines"
	if lines <= maxShownLines {
		size = grouped(utf8.RuneCountInString(text)) + " characters"
	}
	show := fmt.Sprintf("[pasted %s #%d]", size, n)
	return Glyph{Text: text, Show: show, Width: len(show), Folded: true}
}

// grouped writes n with a comma before every third digit.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
