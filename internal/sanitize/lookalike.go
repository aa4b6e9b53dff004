package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordLen returns the length of the leading letters of s, with the numerals and digits
// that pass for letters or digits of ASCII.
func wordLen(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Nl, r) && !(unicode.Is(unicode.Nd, r) && passingDigit(r))
	})
	if n < 0 {
		return len(s)
	}
	return n
}

func passingDigit(r rune) bool {
	return r >= utf8.RuneSelf && (passesForLatin(r) || strings.ContainsRune(between, r))
}

// alike returns the characters of a word at index at of s that pass for ASCII: those among
// ASCII letters or beside ASCII digits, and all characters of a word that has only such,
// unless s has another word in its script.
func alike(word string, at int, s string) []mark {
	if strings.ContainsFunc(word, asciiLetter) || besideNumber(word, at, s) {
		return mixed(word, at, s)
	}
	var out []mark
	for i, r := range word {
		switch {
		case passesForLatin(r):
			out = append(out, mark{at + i, r, LookAlike})
		case !unicode.IsMark(r):
			return nil
		}
	}
	if len(out) < 2 || !strings.ContainsFunc(s, asciiLetter) || plainly(s) {
		return nil
	}
	return out
}

func asciiLetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

// besideNumber reports whether a word at index at of s begins or ends with a digit that
// passes for one of ASCII, next to a digit or dot of ASCII.
func besideNumber(word string, at int, s string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	number := func(c byte) bool { return c == '.' || c >= '0' && c <= '9' }
	end := at + len(word)
	return styledDigit(first) && at > 0 && number(s[at-1]) || styledDigit(last) && end < len(s) && number(s[end])
}

// styledDigit reports whether r is a digit of ASCII in another style: 𝟏, 🯱.
func styledDigit(r rune) bool {
	return r >= 0x1d7ce && r <= 0x1d7ff || r >= 0x1fbf0 && r <= 0x1fbf9
}

// mixed returns the characters that pass for ASCII in a word of s that holds such letters.
func mixed(word string, at int, s string) []mark {
	first, last := strings.IndexFunc(word, asciiLetter), strings.LastIndexFunc(word, asciiLetter)
	formula := smallLetters(word) < 2
	east := strings.ContainsFunc(word, eastern)
	passes := func(i int, r rune) bool {
		switch {
		case r < utf8.RuneSelf:
			return false
		case smallNumeral(r):
			return !east // 第Ⅱ章API
		case passesForLatin(r):
			return true
		case strings.ContainsRune(within, r):
			return !formula || !ofFormulas(r)
		case strings.ContainsRune(between, r):
			return first < i && i < last
		}
		return strings.ContainsRune(ofHosts, r) && inHost(at, s)
	}
	var out []mark
	for i, r := range word {
		if passes(i, r) {
			out = append(out, mark{at + i, r, LookAlike})
		}
	}
	return out
}

// smallLetters returns how many lower-case letters of ASCII a word has. Names and formulas
// with Greek letters have few: TNFα, dα.
func smallLetters(word string) int {
	n := 0
	for i := range len(word) {
		if word[i] >= 'a' && word[i] <= 'z' {
			n++
		}
	}
	return n
}

// ofFormulas reports whether r is a letter that people put next to those of ASCII: Greek,
// or a symbol such as ℝ.
func ofFormulas(r rune) bool { return unicode.Is(unicode.Greek, r) || r >= 0x2100 && r <= 0x214f }

// smallNumeral reports whether r is one of the Roman numerals up to twelve, which
// Japanese and Chinese text writes so.
func smallNumeral(r rune) bool {
	return r >= 0x2160 && r <= 0x216b || r >= 0x2170 && r <= 0x217b
}

// inHost reports whether the word at index at of s is part of the name of a host: behind
// "://", or behind "@" as in git@example.com.
func inHost(at int, s string) bool {
	s = s[max(0, at-maxHost):at]
	from := strings.LastIndexAny(s, " \t\"'`/,;()<>=") + 1
	return strings.HasSuffix(s[:from], "://") || strings.Index(s[from:], "@") > 0
}

// maxHost is the length of the longest name of a host in bytes, with that of a user.
const maxHost = 320

// plainly reports whether s has letters of another alphabet that look unlike any Latin
// letter.
func plainly(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r >= utf8.RuneSelf && unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Lisu) && !passesForLatin(r)
	})
}

// passesForLatin reports whether r is drawn like a letter or digit of ASCII but is not
// one, so that a word of only such characters can be meant to deceive.
func passesForLatin(r rune) bool {
	switch {
	case r >= 0x1d400 && r <= 0x1d7ff, r >= 0xff21 && r <= 0xff3a, r >= 0xff41 && r <= 0xff5a, // 𝐚, Ａ, ａ
		r >= 0x2160 && r <= 0x217f, styledDigit(r): // ⅼ, 🯱
		return true
	}
	return strings.ContainsRune(letters, r)
}

// These and the ranges of passesForLatin are the letters, numerals and digits whose
// prototype in confusables.txt of Unicode 13.0 (UTS #39) is one letter or digit of ASCII.
// The lists add κ and ligatures, which fonts draw alike, and leave out 〇, which is as wide
// as two letters. Superscripts and letters in circles have no such prototype: a reader sees
// the difference.
const (
	// letters pass in any word.
	letters = "асеорухіјѕԁһӏԛԝѵҫүАВЕКМНОРСТХУІЈЅҮԌԚԜӀ" + // Cyrillic
		"οιυνΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + // Greek
		"օսոհցյՍՏՕԼ" + // Armenian
		"ᎪᎠᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ" + // Cherokee
		"ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓞꓟꓠꓡꓢꓣꓦꓧꓨꓪꓫꓬꓮꓰꓲꓳꓴ" + // Lisu
		"ɑɡɩʋ" +
		"𐊠𐊡𐊢𐊥𐊫𐊰𐊱𐊲𐊴𐋏𐊂𐊆𐊇𐊊𐊐𐊒𐊕𐊖𐊗𐌁𐌂𐌉𐌑𐌕𐌗𐌚𐔓𐔖𐔘𐔜𐔝𐔥𐔦𐔧𐐄𐐕𐐛𐐠𐐬𐐽𐑈" // scripts of the past

	// within pass in a word with letters of ASCII: whole words of them are ordinary.
	within = "ſƄƍƖƦƧƼƽȜȢȣɪɯʏᴄᴏᴑᴜᴠᴡᴢᶃᶌẝỿꜱꝚꝪꝮꞘꞙꞟꞫꞲꞳꞴꬲꬵꬽꭇꭈꭎꭒꭚﬀﬁﬂﬃﬄﬅﬆ" +
		"αγκρσϒϜϱϲϳϹϺͿͺᴦ\u1fbe" +
		"ℂℊℋℌℍℎℐℑℒℓℕℙℚℛℜℝℤℨ\u212aℬℭℯℰℱℳℴℽⅅⅆⅇⅈⅉ" +
		"ѡѴҽӠꙄꙇ" + "ագզռք" + "ყჿ" +
		"ᎥᎩᎽᏀᏂᏎᏏᏒᏔᏕᏧᏮᏳꭵꮁꮃꮓꮩꮪꮯꓒ" +
		"ᐯᑌᑭᑯᑲᒍᒪᒿᕁᕼᕽᖇᖯᖴᗅᗞᗪᗰᗷ" + // Canadian syllabics
		"ϨⲅⲎⲒⲔⲘⲚⲞⲟⲢⲣⲤⲥⲦⲨⲬⳊⳌⳐⳒᚷᛁᛕᛖⴸⴹⵏⵔⵕⵝꛟꛯ" + // Coptic, Runic, Tifinagh, Bamum
		"𐒴𐓂𐓎𐓒𐓪𐓶𖼈𖼊𖼖𖼨𖼵𖼺𖼻𖽀𖽂𖽃𑜆𑜊𑜎𑜏" + // Osage, Miao, Ahom
		"𑢠𑢢𑢣𑢤𑢦𑢩𑢬𑢮𑢯𑢲𑢵𑢸𑢻𑢼𑣀𑣁𑣂𑣃𑣄𑣆𑣈𑣊𑣌𑣕𑣖𑣗𑣘𑣜" // Warang Citi

	// between pass between letters of ASCII: people write a prefix, an ending or digits of
	// their own script next to a Latin word.
	between = "ЗЬбгℹ" +
		"\u05d5\u05d8\u05df\u05e1" + // Hebrew
		"\u0627\u0647\u06be\u06c1\u06d5\ufba6\ufba7\ufba8\ufba9\ufbaa\ufbab\ufbac\ufbad\ufe8d\ufe8e\ufee9\ufeea\ufeeb\ufeec" + // Arabic
		"\U0001ee00\U0001ee24\U0001ee64\U0001ee80\U0001ee84" +
		"\u0661\u0665\u0667\u06f1\u06f5\u06f7\u07c0\u07ca" +
		"०০৪৭੦੧੪૦୦୨௦౦೦൦൭๐໐၀𑓐𑣠𑣥𑣦𑣩" +
		"ଠഠဝሀዐ\u0b03\u0c02\u0c82\u0d02\u0d82"

	// ofHosts are letters of Latin alphabets, such as the Turkish one, that pass in the name
	// of a host.
	ofHosts = "ıɣƷǀ"

	// punctuation passes for that of ASCII.
	punctuation = "\u037e\u2024\u2044\u2215\u29f8\ua789\u01c3\u2011\u2236"
)
