package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ForModel returns text of a server or another program as a model may read it: without escape
// sequences and control characters, and with characters that are not seen shown as \u{…}, as Text
// does. Otherwise somebody could instruct the model unseen. Joiners within a word of a
// script that is written with them are kept.
func ForModel(s string) string {
	s = Plain(strings.ToValidUTF8(s, "\uFFFD"))
	if ascii(s) {
		return s
	}
	var b strings.Builder
	from, prev := 0, rune(0)
	for at, r := range s {
		if r == joiner || r == nonJoiner {
			next, _ := utf8.DecodeRuneInString(s[at+utf8.RuneLen(r):])
			if unicode.In(prev, joining...) && unicode.In(next, joining...) {
				b.WriteString(Text(s[from:at]))
				b.WriteRune(r)
				from = at + utf8.RuneLen(r)
			}
		}
		prev = r
	}
	b.WriteString(Text(s[from:]))
	return b.String()
}

const nonJoiner = 0x200C

// joining are the scripts whose words have joiners.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}
