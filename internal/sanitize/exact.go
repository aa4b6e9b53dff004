package sanitize

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsHidden reports whether r is drawn as nothing, or changes how its neighbours are
// drawn. It is the one list of such characters: of those, Text leaves only joined emoji
// unescaped. The extension for VS Code has the same list, which a test compares.
func IsHidden(r rune) bool {
	return r != '\n' && r != '\t' && (!strconv.IsGraphic(r) || blank(r))
}

// IsOddSpace reports whether r is drawn as a blank but is not U+0020.
func IsOddSpace(r rune) bool { return r != ' ' && unicode.Is(unicode.Zs, r) }

// Exact is Text for a person's judgement: it also shows as \u{…} unusual blanks and
// letters that pass for those of another alphabet.
func Exact(s string) string {
	marked := deceptive(s)
	if len(marked) == 0 {
		return Text(s)
	}
	var b strings.Builder
	from := 0
	for _, m := range marked {
		b.WriteString(Text(s[from:m.at]))
		fmt.Fprintf(&b, `\u{%x}`, m.r)
		from = m.at + utf8.RuneLen(m.r)
	}
	b.WriteString(Text(s[from:]))
	return b.String()
}

// Name is Exact for the name of a file, a folder or a tool: the result is one line, with
// blanks at its ends shown as \u{20}.
func Name(s string) string {
	if strings.ContainsAny(s, "\n\r\t") {
		s = lineBreaks.Replace(s)
	}
	text := strings.Trim(s, " ")
	lead := strings.Index(s, text)
	return strings.Repeat(`\u{20}`, lead) + Exact(text) + strings.Repeat(`\u{20}`, len(s)-lead-len(text))
}

// mark is a character that Exact shows as \u{…} and Text does not.
type mark struct {
	at   int
	r    rune
	kind Kind
}

// deceptive returns the characters of s that pass for others, in order.
func deceptive(s string) []mark {
	if ascii(s) {
		return nil
	}
	var out []mark
	prev := rune(0)
	for at := 0; at < len(s); {
		if n := wordLen(s[at:]); n > 0 {
			out = append(out, alike(s[at:at+n], at, s)...)
			prev, _ = utf8.DecodeLastRuneInString(s[:at+n])
			at += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		next, _ := utf8.DecodeRuneInString(s[at+size:])
		switch {
		case IsOddSpace(r) && !(r == 0x3000 && (eastern(prev) || eastern(next))):
			out = append(out, mark{at, r, Space})
		case strings.ContainsRune(punctuation, r):
			out = append(out, mark{at, r, LookAlike})
		}
		at, prev = at+size, r
	}
	return out
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// eastern reports whether r belongs to a script in which U+3000 is the usual blank.
func eastern(r rune) bool {
	return r > 0x3000 && r < 0x3040 || r >= 0xff00 && r < 0xfff0 ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}
