package search

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// errNewline is returned for a pattern that spans lines.
var errNewline = errors.New(`the pattern contains a line break, but lines are searched one by one: search for a part that is on one line`)

// parse parses an RE2 expression and refuses patterns that cannot match within a line.
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

// forRipgrep translates an expression to ripgrep's dialect. The result matches at least
// the lines that the expression matches here: with ASCII classes, on lines without their
// \r, and with bytes that are not UTF-8 read as Latin-1.
func forRipgrep(re *syntax.Regexp) string {
	var w ripgrepWriter
	w.write(re, edges{first: true, last: true})
	return w.String()
}

// edges records which ends of the whole expression a part of it touches.
type edges struct{ first, last bool }

// ripgrepWriter writes expressions in ripgrep's dialect. It omits assertions inside a
// line and leaves them to scan: rg differs on word borders at line ends, and finds
// nothing if $ precedes ^.
type ripgrepWriter struct{ strings.Builder }

func (w *ripgrepWriter) write(re *syntax.Regexp, at edges) {
	switch re.Op {
	case syntax.OpNoMatch:
		w.WriteString(noRune)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			writeRune(&w.Builder, r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		writeClass(&w.Builder, re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		writeClass(&w.Builder, []rune{0, unicode.MaxRune})
	case syntax.OpBeginLine, syntax.OpBeginText:
		w.assert(at.first, `^\x{FEFF}?`)
	case syntax.OpEndLine, syntax.OpEndText:
		w.assert(at.last, `\r?$`)
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		w.assert(false, "")
	case syntax.OpCapture, syntax.OpConcat:
		w.concat(re.Sub, at)
	case syntax.OpAlternate:
		w.group(re.Sub, at, "|", "")
	case syntax.OpQuest:
		w.group(re.Sub, at, "", "?")
	case syntax.OpStar:
		w.group(re.Sub, edges{}, "", "*")
	case syntax.OpPlus:
		w.group(re.Sub, edges{}, "", "+")
	case syntax.OpRepeat:
		w.group(re.Sub, edges{}, "", repeat(re.Min, re.Max))
	}
}

func (w *ripgrepWriter) assert(wanted bool, assertion string) {
	if !wanted {
		assertion = ""
	}
	w.WriteString("(?:" + assertion + ")")
}

func (w *ripgrepWriter) concat(subs []*syntax.Regexp, at edges) {
	w.WriteString("(?:")
	for i, sub := range subs {
		w.write(sub, edges{first: at.first && i == 0, last: at.last && i == len(subs)-1})
	}
	w.WriteString(")")
}

func (w *ripgrepWriter) group(subs []*syntax.Regexp, at edges, between, suffix string) {
	w.WriteString("(?:")
	for i, sub := range subs {
		if i > 0 {
			w.WriteString(between)
		}
		w.write(sub, at)
	}
	w.WriteString(")" + suffix)
}

// noRune is an empty class.
const noRune = `[a&&b]`

func repeat(low, high int) string {
	if high < 0 {
		return fmt.Sprintf("{%d,}", low)
	}
	return fmt.Sprintf("{%d,%d}", low, high)
}

// writeRune writes one rune, with fold in all its cases.
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

// writeClass writes ranges of runes without \n. For a Latin-1 character it also adds its
// single byte.
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
