package search

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// errNewline is the answer to a pattern that spans lines.
var errNewline = errors.New(`the pattern contains a line break, but lines are searched one by one: search for a part that is on one line`)

// parse reads an RE2 expression and refuses what cannot match within a line.
func parse(expr string) (*syntax.Regexp, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("regex is not RE2: %w", err)
	}
	if hasNewline(tree) {
		return nil, errNewline
	}
	return tree, nil
}

func hasNewline(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') {
		return true
	}
	return slices.ContainsFunc(re.Sub, hasNewline)
}

// forRipgrep writes an expression in ripgrep's dialect. It matches at least the
// lines that the expression matches here: with ASCII classes, on lines without
// their \r, and with bytes that are not UTF-8 read as Latin-1.
func forRipgrep(re *syntax.Regexp) string {
	var b strings.Builder
	writeRipgrep(&b, re)
	return b.String()
}

func writeRipgrep(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		b.WriteString(noRune)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			writeRune(b, r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		writeClass(b, re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		writeClass(b, []rune{0, unicode.MaxRune})
	case syntax.OpBeginLine, syntax.OpBeginText:
		b.WriteString(`(?:^\x{FEFF}?)`)
	case syntax.OpEndLine, syntax.OpEndText:
		b.WriteString(`(?:\r?$)`)
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		b.WriteString("(?:)") // rg differs on borders beside line ends: scan decides
	case syntax.OpCapture, syntax.OpConcat:
		writeGroup(b, re.Sub, "", "")
	case syntax.OpAlternate:
		writeGroup(b, re.Sub, "|", "")
	case syntax.OpStar:
		writeGroup(b, re.Sub, "", "*")
	case syntax.OpPlus:
		writeGroup(b, re.Sub, "", "+")
	case syntax.OpQuest:
		writeGroup(b, re.Sub, "", "?")
	case syntax.OpRepeat:
		writeGroup(b, re.Sub, "", repeat(re.Min, re.Max))
	}
}

// noRune is a class without members.
const noRune = `[a&&b]`

func writeGroup(b *strings.Builder, subs []*syntax.Regexp, between, suffix string) {
	b.WriteString("(?:")
	for i, sub := range subs {
		if i > 0 {
			b.WriteString(between)
		}
		writeRipgrep(b, sub)
	}
	b.WriteString(")" + suffix)
}

func repeat(low, high int) string {
	if high < 0 {
		return fmt.Sprintf("{%d,}", low)
	}
	return fmt.Sprintf("{%d,%d}", low, high)
}

// writeRune writes one rune, with fold in all the cases it has.
func writeRune(b *strings.Builder, r rune, fold bool) {
	if !fold || unicode.SimpleFold(r) == r {
		if r < 0x80 && (isWord(byte(r)) || r == ' ') {
			b.WriteRune(r)
			return
		}
		writeClass(b, []rune{r, r})
		return
	}
	ranges := []rune{r, r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		ranges = append(ranges, f, f)
	}
	writeClass(b, ranges)
}

// writeClass writes ranges of runes, less \n. Where one of them is a character
// of Latin-1, its byte alone counts too.
func writeClass(b *strings.Builder, ranges []rune) {
	var class, bytes strings.Builder
	for i := 0; i+1 < len(ranges); i += 2 {
		low, high := ranges[i], ranges[i+1]
		if low <= '\n' && '\n' <= high {
			writeRange(&class, low, '\n'-1)
			low = '\n' + 1
		}
		writeRange(&class, low, high)
		if low, high := max(low, 0x80), min(high, 0xff); low <= high {
			fmt.Fprintf(&bytes, `\x%X-\x%X`, low, high)
		}
	}
	switch {
	case class.Len() == 0:
		b.WriteString(noRune)
	case bytes.Len() == 0:
		b.WriteString("[" + class.String() + "]")
	default:
		b.WriteString("(?:[" + class.String() + "]|(?-u:[" + bytes.String() + "]))")
	}
}

func writeRange(b *strings.Builder, low, high rune) {
	if low > high {
		return
	}
	fmt.Fprintf(b, `\x{%X}-\x{%X}`, low, high)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
