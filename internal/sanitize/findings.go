package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Finding counts the characters of one kind that hide in a line.
type Finding struct {
	Line  int // 1-based
	Kind  Kind
	Count int
}

// Deceptive returns the characters of s that Exact makes visible and Text does not: a
// Finding for each line and kind, in order.
func Deceptive(s string) []Finding {
	if ascii(s) {
		return nil
	}
	var found []Finding
	for i, line := range strings.Split(s, "\n") {
		for _, m := range deceptive(line) {
			found = count(found, i+1, m.kind)
		}
	}
	return found
}

// Hidden returns the characters of s that Text would make visible: a Finding for each
// line and kind, in order. It ignores a carriage return at the end of a line.
func Hidden(s string) []Finding {
	var found []Finding
	line, prev := 1, rune(0)
	for {
		n, last := clean(s, prev)
		if n == len(s) {
			return found
		}
		line += strings.Count(s[:n], "\n")
		r, size := utf8.DecodeRuneInString(s[n:])
		s, prev = s[n+size:], past(r, false)
		switch {
		case r == utf8.RuneError && size == 1:
			found = count(found, line, Invalid)
		case r == '\r' && last != '\r' && (s == "" || s[0] == '\n'):
		default:
			found = count(found, line, kindOf(r))
		}
	}
}

func count(found []Finding, line int, kind Kind) []Finding {
	for i := len(found) - 1; i >= 0 && found[i].Line == line; i-- {
		if found[i].Kind == kind {
			found[i].Count++
			return found
		}
	}
	return append(found, Finding{Line: line, Kind: kind, Count: 1})
}

func kindOf(r rune) Kind {
	switch {
	case unicode.Is(unicode.Cc, r):
		return Control
	case unicode.Is(unicode.Bidi_Control, r):
		return Bidi
	}
	return Invisible
}
