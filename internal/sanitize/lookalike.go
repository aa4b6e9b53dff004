package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordLen returns the length of the leading letters of s.
func wordLen(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	if n < 0 {
		return len(s)
	}
	return n
}

// alike returns the letters of a word at index at of s that pass for Latin ones: those
// among Latin letters, and all letters of a word that has only such letters, unless s has
// another word in its script.
func alike(word string, at int, s string) []mark {
	var out []mark
	latin, others := false, false
	for i, r := range word {
		switch {
		case r < utf8.RuneSelf:
			latin = true
		case passesForLatin(r):
			out = append(out, mark{at + i, r, LookAlike})
		case !unicode.IsMark(r):
			others = true
		}
	}
	switch {
	case len(out) == 0 || latin:
		return out
	case others || len(out) == 1 || !hasASCIILetter(s) || plainly(s):
		return nil
	}
	return out
}

func hasASCIILetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) })
}

// plainly reports whether s has letters of another alphabet that look unlike any Latin
// letter.
func plainly(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r >= utf8.RuneSelf && unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Lisu) && !passesForLatin(r)
	})
}

// passesForLatin reports whether r is drawn like a Latin letter but is not one.
func passesForLatin(r rune) bool {
	switch {
	case r >= 0x1d400 && r <= 0x1d7ff, r >= 0xff21 && r <= 0xff3a, r >= 0xff41 && r <= 0xff5a: // 𝐚, Ａ, ａ
		return true
	}
	return strings.ContainsRune(letters, r)
}

// letters and punctuation list characters that pass for those of ASCII.
const (
	letters = "асеорухіјѕԁһӏԛԝѵҫүАВЕКМНОРСТХУІЈЅҮԌԚԜӀ" + // Cyrillic
		"οιυνΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + // Greek
		"օսոհցյՍՏՕԼ" + // Armenian
		"ᎪᎠᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ" + // Cherokee
		"ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓞꓟꓠꓡꓢꓣꓦꓧꓨꓪꓫꓬꓮꓰꓲꓳꓴ" + // Lisu
		"ɑɡɩʋ"
	punctuation = "\u037e\u2024\u2044\u2215\u29f8\ua789\u01c3\u2011\u2236"
)
