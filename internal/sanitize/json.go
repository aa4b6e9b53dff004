package sanitize

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// JSON returns JSON in which the characters that are not printable are escaped: they only occur
// in strings, and a terminal may obey them. The values stay the same.
func JSON(s string) string {
	clean := 0
	for clean < len(s) && (s[clean] >= ' ' && s[clean] < 0x7f || s[clean] == '\n') {
		clean++
	}
	if clean == len(s) {
		return s
	}
	b := append(make([]byte, 0, len(s)+64), s[:clean]...)
	for _, r := range s[clean:] {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		}
	}
	return string(b)
}
