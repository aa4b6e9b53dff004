package keyboard

import (
	"strconv"
	"strings"
	"sync"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

const chord = tea.ModCtrl | tea.ModAlt | tea.ModMeta | tea.ModSuper | tea.ModHyper

// latin returns a key that is pressed with Ctrl or Alt in a layout of another script as the key at
// its place in the standard layout: Ctrl with the Cyrillic letter on the key C is Ctrl+C. Letters
// that the person's own Latin layout has moved stay: Ctrl+C of Dvorak is not the key C.
func latin(key tea.KeyPressMsg) tea.KeyPressMsg {
	base := key.BaseCode
	if unicode.IsPrint(key.Code) {
		key.BaseCode = 0 // a terminal reports it for each key
	}
	if key.Mod&chord == 0 || key.Text != "" {
		return key
	}
	if letter := Latin(key.Code, base); letter != 0 {
		key.Code = letter
	}
	return key
}

// Latin returns the character of the standard layout on the key of a letter of another script, or
// zero for any other character. base is that character if the terminal has reported it.
func Latin(letter, base rune) rune {
	if letter <= unicode.MaxLatin1 || !unicode.In(letter, unicode.L, unicode.M) || unicode.Is(unicode.Latin, letter) {
		return 0
	}
	if base > ' ' && base < unicode.MaxASCII {
		return unicode.ToLower(base)
	}
	return standard()[unicode.ToLower(letter)]
}

// layouts lists the standard layouts of other scripts, each with the keys of their letters. A letter
// that two layouts have in different places is on the key of the first.
var layouts = [][2]string{
	{"йцукенгшщзхъфывапролджэячсмитьбюё", "qwertyuiop[]asdfghjkl;'zxcvbnm,.`"}, // Russian
	{"іїєґў", `s]'\o`},   // Ukrainian, Belarusian
	{"љњђћџј", `qw[;xj`}, // Serbian
	{"ςερτυθιοπασδφγηξκλζχψωβνμ", "wertyuiopasdfghjklzxcvbnm"},                 // Greek
	{"קראטוןםפשדגכעיחלךףזסבהנמצתץ", "ertyuiopasdfghjkl;zxcvbnm,."},             // Hebrew
	{"ضصثقفغعهخحجدشسيبلاتنمكطئءؤرىةوزظ", "qwertyuiop[]asdfghjkl;'zxcvnm,./"},   // Arabic
	{"ქწერტყუიოპასდფგჰჯკლზხცვბნმ", "qwertyuiopasdfghjklzxcvbnm"},               // Georgian
	{"ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔㅁㄴㅇㄹㅎㅗㅓㅏㅣㅋㅌㅊㅍㅠㅜㅡ", "qwertyuiopasdfghjklzxcvbnm"},               // Korean
	{"ๆไำพะัีรนยบลฟหกดเ้่าสวงผปแอิืทมใฝ", `qwertyuiop[]asdfghjkl;'zxcvbnm,./`}, // Thai
	{"ौैाीूबहगदजडोे्िुपरकतचटंमनवलसय", `qwertyuiop[asdfghjkl;'xcvbnm/`},         // Devanagari
}

// standard maps a letter to the character on its key.
var standard = sync.OnceValue(func() map[rune]rune {
	all := map[rune]rune{}
	for _, l := range layouts {
		keys := []rune(l[1])
		for i, letter := range []rune(l[0]) {
			if all[letter] == 0 {
				all[letter] = keys[i]
			}
		}
	}
	return all
})

// interrupts reports whether p is Ctrl+C alone, in any encoding and layout: the character, or its
// code and modifiers as Kitty (CSI code:shifted:base;modifiers u) and XTerm (CSI 27;modifiers;code ~)
// report them.
func interrupts(p []byte) bool {
	if string(p) == "\x03" {
		return true
	}
	text, ok := strings.CutPrefix(string(p), "\x1b[")
	if !ok || len(text) < 2 {
		return false
	}
	fields := strings.Split(text[:len(text)-1], ";")
	number := func(field, sub int) int {
		parts := strings.Split(fields[field], ":")
		n, _ := strconv.Atoi(parts[min(sub, len(parts)-1)]) // zero if missing
		return n
	}
	var letter, base rune
	var mods int
	switch {
	case text[len(text)-1] == 'u' && len(fields) == 2:
		letter, base, mods = rune(number(0, 0)), rune(number(0, 2)), number(1, 0)-1
	case text[len(text)-1] == '~' && len(fields) == 3 && fields[0] == "27":
		letter, mods = rune(number(2, 0)), number(1, 0)-1
	}
	if l := Latin(letter, base); l != 0 {
		letter = l
	}
	const shift, ctrl, locks = 1, 4, 64 | 128
	return strings.ContainsRune("cC", letter) && mods&^(locks|shift) == ctrl
}
