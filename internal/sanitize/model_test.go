package sanitize_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

func TestForModel(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                      "plain\ttext\n",
		"a\x1b[31mb\x1b[0m\x00c\u009bd":      "abcd",
		"line\r\nnext":                       "line\nnext",
		"go\u202eon":                         `go\u{202e}on`,
		"a\u200bb\u2060c\u00add\ufeffe":      `a\u{200b}b\u{2060}c\u{ad}d\u{feff}e`,
		"tags\U000e0041\U000e0042":           `tags\u{e0041}\u{e0042}`,
		"x\ufe01y\U000e0101z":                `x\u{fe01}y\u{e0101}z`,
		"a\u200db\u200cc":                    `a\u{200d}b\u{200c}c`,
		"می\u200cخواهم क्\u200dष":            "می\u200cخواهم क्\u200dष",
		"م\u200c\u200cم":                     `م\u{200c}\u{200c}م`,
		"م\u200c x\u200cم":                   `م\u{200c} x\u{200c}م`,
		"👩\u200d💻 ❤\ufe0f Grüße 日本":          "👩\u200d💻 ❤\ufe0f Grüße 日本",
		"bad\xff":                            "bad\uFFFD",
		"nothing\u2800\u3164\u115f to see":   `nothing\u{2800}\u{3164}\u{115f} to see`,
		"\u2066isolated\u2069 \u061c\u200e.": `\u{2066}isolated\u{2069} \u{61c}\u{200e}.`,
	} {
		if got := sanitize.ForModel(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestForModelHidesNothing: no character that people do not see is left alone between letters.
func TestForModelHidesNothing(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !sanitize.IsHidden(r) || r >= 0xd800 && r <= 0xdfff {
			continue
		}
		if got := sanitize.ForModel("a" + string(r) + "b"); strings.ContainsRune(got, r) {
			t.Errorf("U+%04X is left: %q", r, got)
		}
	}
}
