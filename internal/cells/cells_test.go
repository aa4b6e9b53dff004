package cells_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"":                    0,
		"plain":               5,
		"\x1b[1;31mred\x1b[m": 3,
		"\x1b]0;title\ax":     1,
		"e\u0301":             1,
		"漢字":                  4,
		"ทำ":                  2, // one cluster of one cell, or two letters
		"हि":                  2, // a letter and a vowel sign
		"क्ष":                 2,
		"👍🏽":                  4, // one emoji, or two
		"👩‍👩‍👧":               6,
		"❤":                   1,
		"❤️":                  2, // wide by its selector
		"⌚️":                  2,
		"1️⃣":                 2,
		"🇩🇪":                  4,
		"\u1112\u1161\u11ab":  4, // a syllable in pieces
		"─│…·":                4,
		"\t\n\x7f\u0085":      0,
		"\xff":                1,
	} {
		if got := cells.Width(text); got != want {
			t.Errorf("%q takes %d cells, want %d", text, got, want)
		}
	}
}

// No table counts more cells for a character that is drawn at all.
func TestNoCharacterIsWider(t *testing.T) {
	for r := rune(' '); r <= unicode.MaxRune; r++ {
		s := string(r)
		if got, most := cells.Width(s), max(ansi.StringWidth(s), ansi.StringWidthWc(s)); unicode.IsGraphic(r) && got < most {
			t.Errorf("%U takes %d cells, want %d", r, got, most)
		}
	}
}

// texts draws texts of pieces that join their neighbours.
func texts() *rapid.Generator[string] {
	pieces := []string{
		"a", " ", "ท", "ำ", "ิ", "ह", "ि", "्", "क", "e", "\u0301", "👩", "👍", "🏽", "\u200d", "\ufe0f", "\ufe0e", "❤", "⌚", "1", "\u20e3",
		"🇩", "🇪", "\u1112", "\u1161", "\u11ab", "한", "하", "漢", "த", "ி", "ா", "\u0600", "\U0001f9d1", "\x1b[1m", "\x1b[m", "│", "ក", "្", "\xe0", "\xff",
	}
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12), func(s []string) string { return strings.Join(s, "") })
}

// A text is never wider than its parts, nor narrower than any way of counting says.
func TestWidthOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts().Draw(t, "a"), texts().Draw(t, "b")
		whole := cells.Width(a + b)
		if sum := cells.Width(a) + cells.Width(b); whole > sum && utf8.ValidString(a+b) {
			t.Fatalf("%q takes %d cells, its parts %d", a+b, whole, sum)
		}
		least, most := min(ansi.StringWidth(a), ansi.StringWidthWc(a)), max(ansi.StringWidth(a), ansi.StringWidthWc(a))
		if got := cells.Width(a); got < most {
			t.Fatalf("%q takes %d cells, want %d", a, got, most)
		}
		if got := cells.Least(a); got > least && utf8.ValidString(a) {
			t.Fatalf("%q takes at least %d cells, want %d", a, got, least)
		}
	})
}

func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, room := texts().Draw(t, "text"), rapid.IntRange(1, 9).Draw(t, "room")
		rows := cells.Wrap(s, room)
		if strings.Join(rows, "") != s {
			t.Fatalf("%q became %q", s, rows)
		}
		for _, r := range rows {
			if w := cells.Width(r); w > max(room, 2) {
				t.Fatalf("%q takes %d cells of %d", r, w, room)
			}
		}
	})
	long := "ท" + strings.Repeat("ำ", 7) // a single cluster
	if got := cells.Wrap("ab"+long, 4); !slices.Equal(got, []string{"ab", "ทำำำ", "ำำำำ"}) {
		t.Errorf("%q", got)
	}
}

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		text string
		room int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"\x1b[1mlonger\x1b[m", 5, "\x1b[1mlong…\x1b[m"},
		{"ทำทำทำ", 5, "ทำทำ…"},
		{"ทำทำทำ", 4, "ทำ…"},
		{"漢字", 3, "漢…"},
		{"漢字", 0, ""},
	} {
		if got := cells.Truncate(tt.text, tt.room, "…"); got != tt.want {
			t.Errorf("%q in %d: %q, want %q", tt.text, tt.room, got, tt.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for n, want := range []string{"\x1b[1m", "\x1b[1ma\x1b[m", "\x1b[1ma\x1b[mb", "\x1b[1ma\x1b[mb"} {
		if before, after := cells.Split("\x1b[1ma\x1b[mb", n); before != want || before+after != "\x1b[1ma\x1b[mb" {
			t.Errorf("%d: %q and %q", n, before, after)
		}
	}
	if got := cells.Sequences("\x1b[1ma\x1b[mb"); got != "\x1b[1m\x1b[m" {
		t.Errorf("%q", got)
	}
}
