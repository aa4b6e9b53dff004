package sanitize_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "func main() {\n\treturn\n}", "func main() {\n\treturn\n}"},
		{"languages", "Grüße, 世界, Ελλάδα, مرحبا, हिन्दी", "Grüße, 世界, Ελλάδα, مرحبا, हिन्दी"},
		{"escape", "\x1b[31mred", `\u{1b}[31mred`},
		{"title", "\x1b]0;owned\a", `\u{1b}]0;owned\u{7}`},
		{"carriage return", "safe\revil", `safe\u{d}evil`},
		{"delete", "a\x7fb", `a\u{7f}b`},
		{"C1 as UTF-8", "a\u009b31mb", `a\u{9b}31mb`},
		{"C1 raw", "a\x9b31mb", `a\x9b31mb`},
		{"cut character", "a\xe4\xb8", `a\xe4\xb8`},
		{"overlong", "\xc0\xaf", `\xc0\xaf`},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"bidi", "a\u202eb\u2066c", `a\u{202e}b\u{2066}c`},
		{"zero width", "pay\u200bpal", `pay\u{200b}pal`},
		{"joiner", "a\u200db", `a\u{200d}b`},
		{"joined emoji", "👩\u200d💻 👨🏽\u200d🚀 🏳\ufe0f\u200d🌈 👨\u200d👩\u200d👧 🧑\u200d⚕\ufe0f", "👩\u200d💻 👨🏽\u200d🚀 🏳\ufe0f\u200d🌈 👨\u200d👩\u200d👧 🧑\u200d⚕\ufe0f"},
		{"joiner at the end", "👩\u200d", `👩\u{200d}`},
		{"joiner before a letter", "👩\u200da", `👩\u{200d}a`},
		{"joiner between symbols", "→\u200d∑", `→\u{200d}∑`},
		{"joiners in a row", "👩\u200d\u200d💻", `👩\u{200d}\u{200d}💻`},
		{"joiner behind an escape", "a\ufe0f\u200d💻", `a\u{fe0f}\u{200d}💻`},
		{"line separator", "a\u2028b\u2029c", `a\u{2028}b\u{2029}c`},
		{"private use", "\ue000\U000f0000", `\u{e000}\u{f0000}`},
		{"unassigned", "\u0378", `\u{378}`},
		{"tag", "\U000e0041", `\u{e0041}`},
		{"fillers", "a\u3164b\u115fc", `a\u{3164}b\u{115f}c`},
		{"no-break space is blank, not hidden", "a\u00a0b", "a\u00a0b"},
		{"replacement character", "a\ufffdb", "a\ufffdb"},
		{"emoji", "ok ✅ 🎉", "ok ✅ 🎉"},
		{"emoji style", "⚠\ufe0f ❤\ufe0f ‼\ufe0f", "⚠\ufe0f ❤\ufe0f ‼\ufe0f"},
		{"keycap", "1\ufe0f\u20e3", "1\ufe0f\u20e3"},
		{"selector after a digit", "1\ufe0f2", `1\u{fe0f}2`},
		{"selector after a letter", "a\ufe0f", `a\u{fe0f}`},
		{"selectors in a row", "❤\ufe0f\ufe0f", "❤\ufe0f" + `\u{fe0f}`},
		{"other selectors", "❤\ufe00\U000e0100", `❤\u{fe00}\u{e0100}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, sanitize.Text(tt.in)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTextLeavesCleanTextAlone(t *testing.T) {
	text := strings.Repeat("clean text, with ünïcödé and 世界\n", 100)
	allocs := testing.AllocsPerRun(10, func() {
		if sanitize.Text(text) != text {
			t.Error("changed")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// The scan must find a control at every position of the words it checks.
func TestTextFindsEveryASCIIControl(t *testing.T) {
	for at := range 24 {
		for c := range byte(0x80) {
			in := []byte(strings.Repeat("x", 24))
			in[at] = c
			kept := c >= 0x20 && c < 0x7f || c == '\n' || c == '\t'
			if got := sanitize.Text(string(in)) == string(in); got != kept {
				t.Fatalf("byte %#x at %d: kept %v, want %v", c, at, got, kept)
			}
		}
	}
}

func TestLine(t *testing.T) {
	got := sanitize.Line("a\nb\tc\r\x1b")
	if want := `a\nb\tc\r\u{1b}`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStripANSI(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "ok\n", "ok\n"},
		{"colours", "\x1b[1;31mFAIL\x1b[0m x", "FAIL x"},
		{"colon parameters", "\x1b[38:2::1:2:3mx", "x"},
		{"title", "\x1b]0;title\ax\x1b]2;t\x1b\\y", "xy"},
		{"link", "\x1b]8;;https://a.b\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"device control", "\x1bPq#0\x1b\\x", "x"},
		{"charset", "\x1b(Bx", "x"},
		{"two characters", "\x1b=x\x1b7y", "xy"},
		{"escape in a sequence starts another", "\x1b[3\x1b[1mx", "x"},
		{"string without end", "\x1b]0;title\nnext", "\nnext"},
		{"string cut by another", "\x1b]0;title\x1b[1mx", "x"},
		{"string cancelled", "\x1b]0;title\x18x", "x"},
		{"sequence without end", "a\x1b[31", "a"},
		{"newline in a sequence", "a\x1b[31\nb", "a\nb"},
		{"windows lines", "a\r\nb\r\r\nc", "a\nb\nc"},
		{"progress", "10%\r20%\r\n", "10%\n20%\n"},
		{"colour between return and newline", "a\r\x1b[K\nb", "a\nb"},
		{"bell", "a\ab", "ab"},
		{"backspace", "a\bb", `a\u{8}b`},
		{"C1", "\u009b31mx", `\u{9b}31mx`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, sanitize.StripANSI(tt.in)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestHidden(t *testing.T) {
	got := sanitize.Hidden("clean\r\n\u202ea\u202cb\u200b\n\x1b\r\n\xff\rx\n1\ufe0fz")
	want := []sanitize.Finding{
		{Line: 2, Kind: sanitize.Bidi, Count: 2},
		{Line: 2, Kind: sanitize.Invisible, Count: 1},
		{Line: 3, Kind: sanitize.Control, Count: 1},
		{Line: 4, Kind: sanitize.Invalid, Count: 1},
		{Line: 4, Kind: sanitize.Control, Count: 1},
		{Line: 5, Kind: sanitize.Invisible, Count: 1},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := sanitize.Hidden("all\tclear ⚠\ufe0f\r\n"); got != nil {
		t.Errorf("clean text: %v", got)
	}
}

// nasty draws text full of special characters.
func nasty() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"a", "word ", "\n", "\r", "\t", "\x1b", "[", "]", "31m", "0;t", "\a", "\\", "\x18", "\x9b", "\u009b",
		"1", "#", "\ufe0f", "\u20e3", "⚠", "❤", "é", "世", "\u202e", "\u200b", "\xe4", "\xb8", "\xf0\x9f", "\x98\x80",
		"\U000e0041", "\x00", "\x7f", "\ue000", "P", "(", "B",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
	})
}

// checkSafe fails if a terminal could take any part of s for something other than text.
func checkSafe(t interface{ Fatalf(string, ...any) }, s string) {
	if !utf8.ValidString(s) {
		t.Fatalf("invalid UTF-8 in %q", s)
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
			t.Fatalf("%U in %q", r, s)
		}
	}
}

func checkSplit(t *rapid.T, text string, strip bool, want string) {
	s := sanitize.Stream{Strip: strip}
	var b strings.Builder
	for rest := text; rest != ""; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "n")
		b.WriteString(s.Push(rest[:n]))
		rest = rest[n:]
	}
	b.WriteString(s.Close())
	if b.String() != want {
		t.Fatalf("strip %v: %q in pieces: %q, whole: %q", strip, text, b.String(), want)
	}
}

func TestOutputIsSafeHoweverItIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := nasty().Draw(t, "text")
		whole, stripped := sanitize.Text(text), sanitize.StripANSI(text)
		checkSafe(t, whole)
		checkSafe(t, stripped)
		checkSafe(t, sanitize.Line(text))
		if strings.ContainsAny(sanitize.Line(text), "\n\t") {
			t.Fatalf("%q is not one line", sanitize.Line(text))
		}
		checkSplit(t, text, false, whole)
		checkSplit(t, text, true, stripped)
	})
}

// Hidden reports exactly the characters that Text changes.
func TestHiddenAgreesWithText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(nasty().Draw(t, "text"), "\r", "")
		if changed, found := sanitize.Text(text) != text, sanitize.Hidden(text); changed != (len(found) > 0) {
			t.Fatalf("%q: changed %v, found %v", text, changed, found)
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b]0;t\a\u202e\xff1\ufe0f\u20e3", uint8(3))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		for _, strip := range []bool{false, true} {
			s := sanitize.Stream{Strip: strip}
			at := min(int(n), len(text))
			got := s.Push(text[:at]) + s.Push(text[at:]) + s.Close()
			checkSafe(t, got)
			want := sanitize.Text(text)
			if strip {
				want = sanitize.StripANSI(text)
			}
			if got != want {
				t.Fatalf("cut at %d: %q, whole: %q", at, got, want)
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":   strings.Repeat("for i := range n { sum += values[i] } // a line of code\n", 2000),
		"unicode": strings.Repeat("ein Satz mit Umlauten: äöü – und 世界\n", 2000),
		"escapes": strings.Repeat("\x1b[31mred\x1b[0m and plain\n", 2000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				sanitize.Text(text)
			}
		})
	}
}
