package sanitize_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// TestLookAlikes has a text for each class of characters that pass for ASCII. All of the
// class are marked.
func TestLookAlikes(t *testing.T) {
	for class, tt := range map[string]struct {
		text   string
		marked string // the characters that are marked, in order
	}{
		"small Roman numeral":         {"config.ym\u217c", "\u217c"},
		"several":                     {"make p\u03b1ypal \u2170nsta\u217c\u217c", "\u03b1\u2170\u217c\u217c"},
		"large Roman numerals":        {"\u2160nstall \u2165m \u216cs Part\u2161.md", "\u2160\u2165\u216c\u2161"},
		"a word of numerals":          {"run \u217d\u217f\u217e", "\u217d\u217f\u217e"},
		"Greek":                       {"p\u03b1ypal s\u03b3nc s\u03bay \u03c1ython p\u03c3rt \u03f2url", "\u03b1\u03b3\u03ba\u03c1\u03c3\u03f2"},
		"Cyrillic":                    {"p\u0430ypal \u0455\u0455h go\u0433eous x\u0431x", "\u0430\u0455\u0455\u0433\u0431"},
		"Armenian":                    {"g\u0585 a\u0566ua", "\u0585\u0566"},
		"Cherokee":                    {"M\u13aake \u13beake", "\u13aa"},
		"Georgian":                    {"t\u10e7pe", "\u10e7"},
		"dotless i in a host":         {"curl https://g\u0131thub.com/x git@g\u0131thub.com:a/b http://a.\u0131.b:80", "\u0131\u0131"},
		"small capitals":              {"g\u1d0f t\u1d1cx \u1d04url", "\u1d0f\u1d1c\u1d04"},
		"long s, phonetic":            {"\u017fudo \u026anstall \u0261it", "\u017f\u026a\u0261"},
		"ligatures":                   {"con\ufb01g.yml", "\ufb01"},
		"mathematical letters":        {"g\U0001d422t run \U0001d42b\U0001d426", "\U0001d422\U0001d42b\U0001d426"},
		"mathematical digits":         {"v\U0001d7cf 10.0.0.\U0001d7d9 chmod 7\U0001d7d57 kill \U0001d7ce\U0001d7cf", "\U0001d7cf\U0001d7d9\U0001d7d5\U0001d7ce\U0001d7cf"},
		"segmented digits":            {"8\U0001fbf080", "\U0001fbf0"},
		"symbols that are letters":    {"\u2113ist \u212aeep d\u212ff", "\u2113\u212a\u212f"},
		"fullwidth letters":           {"\uff46ull \uff47\uff4f", "\uff46\uff47\uff4f"},
		"scripts of the past":         {"\U000102a0\U000102a1 x \U00010404K", "\U000102a0\U000102a1\U00010404"},
		"Hebrew and Arabic in a word": {"g\u05e1\u0665gle", "\u05e1\u0665"},
		"digits of another script":    {"g\u0e50\u0966gle", "\u0e50\u0966"},
		"behind a character of Han":   {"\u4e16 ym\u217c", "\u217c"},
		"after a combining character": {"e\u0301m\u0430il", "\u0430"},
	} {
		var want strings.Builder
		rest := []rune(tt.marked)
		for _, r := range tt.text {
			if len(rest) > 0 && r == rest[0] {
				fmt.Fprintf(&want, `\u{%x}`, r)
				rest = rest[1:]
				continue
			}
			want.WriteRune(r)
		}
		if got := sanitize.Exact(tt.text); got != want.String() || len(rest) > 0 {
			t.Errorf("%s: %q is shown as %s, want %s", class, tt.text, got, want.String())
		}
	}
}

// TestOrdinaryText: text in the script of its writer, and formulas, are not marked.
func TestOrdinaryText(t *testing.T) {
	for language, text := range map[string]string{
		"Greek":           "το αρχείο README για την αγορά αυγού, ρόδα.md, και όρος v2",
		"Greek name":      "αγορα ρορ.md",
		"Cyrillic":        "бог.md ЗАО гроб Зоб.txt отчёт mp3файл v2б",
		"Turkish":         "sayı = kapı + ısı; kapı.txt /home/ışık cp sayı.go sınıf.go --adı=x @ışık \"ılık\"",
		"Kabyle":          "aɣrum n taddart.md",
		"Skolt Sami":      "Ʒiõlǥǥ vuäʹpet",
		"Khoekhoe":        "ǀhôas gu",
		"Hebrew":          "\u05d5Git \u05d5\u05d8\u05e1 API",
		"Arabic":          "\u0627API \u0648\u0627\u0647 v\u06f1.\u06f5 mp\u0663",
		"Hindi":           "v२.० फ़ाइल१० README",
		"Thai":            "iPhone๑๐ ไฟล์.md",
		"Japanese":        "第Ⅱ章API 〇〇.md A〇B PartⅡの説明 Ⅳ.md ２０２４年 ＡＰＩの説明",
		"Chinese":         "Ⅱ型.md 类型ⅱ 二〇二四年",
		"Armenian":        "արագ.md գազ",
		"Georgian":        "ყოფა.md",
		"Amharic":         "በGoogle ሀገር.md",
		"German, Danish":  "Grüße Ægir œuvre ĳs łódź ñandú ªº",
		"biology":         "TNFα IFNγ NFκB PPARγ α-helix",
		"physics":         "dα γ5 αβ σ² kΩ Δσ μs",
		"mathematics":     "f: ℝ → ℂ, 𝟙 and 𝟏, ℓ1, 𝐱 + 𝐲 ∈ ℝn",
		"superscripts":    "xᵃ nʰ 2ⁿ a₁",
		"letters circled": "ⓐ ⓑbc 🄰 🅰 ⒜ ㊀",
		"information":     "ℹ️ note ℹinfo",
		"phonetic":        "[ˈʊəθ]",
	} {
		if got := sanitize.Exact(text); got != text {
			t.Errorf("%s: %s, want %s", language, got, text)
		}
	}
}

// TestEachCharacterOfARange: of the classes that pass as a whole, each character is marked
// in a word.
func TestEachCharacterOfARange(t *testing.T) {
	for _, span := range [][2]rune{{0x2160, 0x217f}, {0x1d400, 0x1d7ff}, {0x1fbf0, 0x1fbf9}, {0xff21, 0xff3a}, {0xff41, 0xff5a}, {0xfb00, 0xfb06}} {
		for r := span[0]; r <= span[1]; r++ {
			if text := "ab" + string(r) + "cd"; unicode.In(r, unicode.L, unicode.N) && sanitize.Exact(text) != fmt.Sprintf(`ab\u{%x}cd`, r) {
				t.Errorf("%q is not marked", text)
			}
		}
	}
}
