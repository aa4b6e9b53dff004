package sanitize

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	textStyle  = 0xFE0E // variation selector 15
	emojiStyle = 0xFE0F // variation selector 16
	keycap     = "\u20e3"
	joiner     = 0x200D
)

// shown reports whether r is printed unchanged; prev is the character before it and rest
// the text after it.
func shown(r, prev rune, rest string) bool {
	switch {
	case r < utf8.RuneSelf:
		return cleanByte(byte(r))
	case r == textStyle || r == emojiStyle:
		return emojiBase(prev) || r == emojiStyle && keycapBase(prev) && strings.HasPrefix(rest, keycap)
	case r == joiner:
		next, _ := utf8.DecodeRuneInString(rest)
		return (joined(prev) || prev == emojiStyle || skinTone(prev)) && joined(next)
	}
	return strconv.IsGraphic(r) && !blank(r)
}

func keycapBase(r rune) bool {
	return r >= '0' && r <= '9' || r == '#' || r == '*'
}

// emojiBase reports whether a variation selector after r has a visible effect. The
// symbols that are emoji are in these classes, with few exceptions.
func emojiBase(r rune) bool {
	switch r {
	case 0x203C, 0x2049, 0x2139, 0x3030, 0x303D: // ‼ ⁉ ℹ 〰 〽
		return true
	}
	return r > 0xA0 && unicode.In(r, unicode.So, unicode.Sm)
}

// joined reports whether r is an emoji that joiners combine with others.
func joined(r rune) bool {
	switch r {
	case 0x2194, 0x2195, 0x2B1B: // ↔ ↕ ⬛
		return true
	}
	return (r >= 0x2600 && r < 0x27C0 || r >= 0x1F000) && emojiBase(r)
}

func skinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

// past returns r as the previous character of the next one. A character shown as an
// escape joins nothing, except a carriage return, which marks the end of a line.
func past(r rune, asIs bool) rune {
	if asIs || r == '\r' {
		return r
	}
	return 0
}

// blank reports whether r, although a letter or a mark, is drawn as nothing.
func blank(r rune) bool {
	switch {
	case r < 0x034F:
		return false
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x2800, r == 0x3164, r == 0xFFA0, r == 0x1D159:
		return true
	}
	return r >= 0x180B && r <= 0x180F || variationSelector(r)
}

func variationSelector(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF
}

// Kind is a class of characters that hide something.
type Kind string

// The kinds of hidden characters.
const (
	Control   Kind = "control characters"
	Bidi      Kind = "bidirectional controls"
	Invisible Kind = "invisible characters"
	Invalid   Kind = "invalid bytes"
	Space     Kind = "no-break or odd blanks"
	LookAlike Kind = "look-alike letters"
)

// Kinds returns the kinds in the order in which they are reported.
func Kinds() []Kind { return []Kind{Bidi, Invisible, Control, Invalid, Space, LookAlike} }

// IsSpace reports whether r is drawn as a blank: a space of any width, a tab.
func IsSpace(r rune) bool { return r == '\t' || unicode.Is(unicode.Zs, r) }

func cleanByte(c byte) bool {
	return c >= 0x20 && c < 0x7f || c == '\n' || c == '\t'
}
