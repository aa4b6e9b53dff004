package search

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
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
// \r, and with bytes that are not UTF-8 as single stores them, see text.SingleBytes.
func forRipgrep(re *syntax.Regexp, single *text.SingleBytes) string {
	w := ripgrepWriter{single: single}
	w.write(re, edges{first: true, last: true})
	return w.String()
}

// edges records which ends of the whole expression a part of it touches.
type edges struct{ first, last bool }

// ripgrepWriter writes expressions in ripgrep's dialect. It omits assertions inside a
// line and leaves them to scan: rg differs on word borders at line ends, and finds
// nothing if $ precedes ^.
type ripgrepWriter struct {
	strings.Builder
	single *text.SingleBytes // nil if a character other than ASCII may be any bytes
}

func (w *ripgrepWriter) write(re *syntax.Regexp, at edges) {
	switch re.Op {
	case syntax.OpNoMatch:
		w.WriteString(noRune)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			w.writeRune(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		w.writeClass(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.writeClass([]rune{0, unicode.MaxRune})
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
func (w *ripgrepWriter) writeRune(r rune, fold bool) {
	if !fold || unicode.SimpleFold(r) == r {
		if r < 0x80 && (isWord(byte(r)) || r == ' ') {
			w.WriteRune(r)
			return
		}
		w.writeClass([]rune{r, r})
		return
	}
	ranges := []rune{r, r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		ranges = append(ranges, f, f)
	}
	w.writeClass(ranges)
}

// anyBytes is a character other than ASCII in any encoding, which takes up to four bytes.
const anyBytes = `[\x80-\xFF][\x00-\x09\x0B-\xFF]{0,3}`

// writeClass writes ranges of runes without \n, and the bytes that stand for one in files that are
// not UTF-8.
func (w *ripgrepWriter) writeClass(ranges []rune) {
	var class strings.Builder
	foreign := ""
	for i := 0; i+1 < len(ranges); i += 2 {
		low, high := ranges[i], ranges[i+1]
		if low <= '\n' && '\n' <= high {
			writeRange(&class, low, '\n'-1)
			low = '\n' + 1
		}
		writeRange(&class, low, high)
		if high >= 0x80 && low <= high {
			foreign = anyBytes
		}
	}
	if w.single != nil {
		foreign = bytesIn(ranges, w.single)
	}
	switch {
	case class.Len() == 0:
		w.WriteString(noRune)
	case foreign == "":
		w.WriteString("[" + class.String() + "]")
	default:
		w.WriteString("(?:[" + class.String() + "]|(?-u:" + foreign + "))")
	}
}

// bytesIn returns the class of the bytes from 0x80 on that may stand for a rune in ranges, or "" if none
// do.
func bytesIn(ranges []rune, single *text.SingleBytes) string {
	var b strings.Builder
	from := -1
	for c := 0x80; c <= 0x100; c++ {
		in := c < 0x100 && slices.ContainsFunc(single.Runes(byte(c)), func(r rune) bool {
			for i := 0; i+1 < len(ranges); i += 2 {
				if ranges[i] <= r && r <= ranges[i+1] {
					return true
				}
			}
			return false
		})
		switch {
		case in && from < 0:
			from = c
		case !in && from >= 0:
			fmt.Fprintf(&b, `\x%X-\x%X`, from, c-1)
			from = -1
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "[" + b.String() + "]"
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
