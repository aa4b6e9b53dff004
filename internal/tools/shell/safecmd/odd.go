package safecmd

import (
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// oddText returns why the characters of a line need a look, or "": those that eyes or
// shells may take for others. Letters of any script are parts of words, and in quotes
// every other character that shows.
func oddText(line string, file *syntax.File) string {
	for _, r := range line {
		if r < ' ' && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return "it has control characters"
		}
	}
	bare := unquoted(line, file)
	switch {
	case len(sanitize.Hidden(line)) > 0:
		return "it has characters that do not show"
	case len(sanitize.Deceptive(line)) > 0:
		return "it has characters that pass for others"
	case strings.ContainsFunc(bare, isOddRune):
		return "it has characters other than ASCII outside of quotes"
	case hasComment(file) && strings.Contains(line, "\\\n"):
		return "it has a comment that may end in another line than it seems to" // the parser goes on behind the backslash, shells do not
	case runtime.GOOS != "linux" && strings.Contains(bare, "\xa0"):
		return "it has characters that the shell of this system may take for blanks"
	}
	return ""
}

// isOddRune reports whether a character without quotes is neither one of ASCII nor a letter, mark
// or digit.
func isOddRune(r rune) bool {
	return r >= utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}

// oddLayout returns why the layout of a line needs a look, or "".
func oddLayout(line string, file *syntax.File) string {
	switch {
	case strings.Contains(strings.TrimRight(unquoted(line, file), "\n"), "\n"):
		return "it has several lines"
	case hasComment(file):
		return "it has a comment"
	}
	return ""
}

func hasComment(file *syntax.File) bool {
	return contains(file, func(n syntax.Node) bool {
		_, ok := n.(*syntax.Comment)
		return ok
	})
}

// unquoted returns line without the texts in quotes.
func unquoted(line string, file *syntax.File) string {
	type span struct{ from, to int }
	var spans []span
	add := func(n syntax.Node) { spans = append(spans, span{int(n.Pos().Offset()), int(n.End().Offset())}) }
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			add(n)
		case *syntax.DblQuoted:
			for _, part := range n.Parts {
				if lit, ok := part.(*syntax.Lit); ok {
					add(lit)
				}
			}
		}
		return true
	})
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.from < at || s.to > len(line) {
			continue // inside of another, or a place that the parser got wrong
		}
		b.WriteString(line[at:s.from])
		at = s.to
	}
	b.WriteString(line[at:])
	return b.String()
}
