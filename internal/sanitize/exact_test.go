package sanitize_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

func TestExact(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":                  "plain text",
		"a\u00a0b":                    `a\u{a0}b`,
		"a\u202fb\u2003c\u3000d":      `a\u{202f}b\u{2003}c\u{3000}d`,
		"日本\u3000語。\u3000次":           "日本\u3000語。\u3000次",
		"p\u0430ypal":                 `p\u{430}ypal`,
		"\u0441\u043e\u0440\u0443":    "\u0441\u043e\u0440\u0443",
		"\u0441\u043e\u0440\u0443.go": `\u{441}\u{43e}\u{440}\u{443}.go`,
		"отчёт.md":                    "отчёт.md",
		"отчёт за год и рот.md":       "отчёт за год и рот.md",
		"x := Δt · μ + ν_max":         "x := Δt · μ + ν_max",
		"\u03bfpen":                   `\u{3bf}pen`,
		"ｆull":                        `\u{ff46}ull`,
		"ＡＰＩの説明":                      "ＡＰＩの説明",
		"a\u037eb":                    `a\u{37e}b`,
		"evil.com\u2215x":             `evil.com\u{2215}x`,
		"naïve Grüße, 世界, Ελλάδα, مرحبا": "naïve Grüße, 世界, Ελλάδα, مرحبا",
		"\u202e\x1b": `\u{202e}\u{1b}`,
		"\u2800":     `\u{2800}`,
		"👩\u200d💻":   "👩\u200d💻",
	} {
		if got := sanitize.Exact(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"main.go": "main.go", " main.go": `\u{20}main.go`, "main.go  ": `main.go\u{20}\u{20}`, "a b": "a b", "  ": `\u{20}\u{20}`, "": "",
		"a\nb": `a\nb`, "a\u00a0b": `a\u{a0}b`, "m\u0430in.go": `m\u{430}in.go`, "\ta": `\ta`,
	} {
		if got := sanitize.Name(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestIsHidden: the list has every character that a renderer may draw as nothing, and
// none of its characters is shown unchanged when alone.
func TestIsHidden(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		assigned := unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
		ignorable := unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
			!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		must := ignorable || !assigned || unicode.In(r, unicode.Cc, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp)
		if must && r != '\n' && r != '\t' && !sanitize.IsHidden(r) {
			t.Errorf("U+%04X is not in the list", r)
		}
		if r < 0xd800 || r > 0xdfff { // a text holds no half of a surrogate pair
			if shown := sanitize.Text("a"+string(r)+"a") != "a"+string(r)+"a"; shown != sanitize.IsHidden(r) {
				t.Errorf("U+%04X: hidden %v, made visible %v", r, !shown, shown)
			}
		}
	}
}

// Nothing hides in the output of Exact.
func TestExactHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := nasty().Draw(t, "text") + rapid.StringOf(rapid.SampledFrom([]rune("aа\u00a0 о/\u3000本\u200b"))).Draw(t, "more")
		out := sanitize.Exact(in)
		if strings.ContainsFunc(out, func(r rune) bool { return sanitize.IsOddSpace(r) && r != 0x3000 }) || len(sanitize.Hidden(out)) > 0 {
			t.Errorf("%q: %q", in, out)
		}
	})
}
