package diff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Classify returns the kind of change from a to b.
func Classify(a, b string) Class {
	if a == b {
		return Class{}
	}
	c := Class{
		LineEndings: strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n"),
		Whitespace:  sameText(a, b),
	}
	endA, endB := strings.HasSuffix(a, "\n"), strings.HasSuffix(b, "\n")
	switch {
	case a == "" || b == "":
	case endB && !endA:
		c.FinalNewline = 1
	case endA && !endB:
		c.FinalNewline = -1
	}
	return c
}

// sameText reports whether a and b are equal but for white space.
func sameText(a, b string) bool {
	for {
		a, b = strings.TrimLeftFunc(a, unicode.IsSpace), strings.TrimLeftFunc(b, unicode.IsSpace)
		if a == "" || b == "" {
			return a == b
		}
		_, n := utf8.DecodeRuneInString(a)
		if !strings.HasPrefix(b, a[:n]) {
			return false
		}
		a, b = a[n:], b[n:]
	}
}
