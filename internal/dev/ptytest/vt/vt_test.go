package vt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func write(t *testing.T, term *Terminal, s string) {
	t.Helper()
	if _, err := term.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
}

func TestScreen(t *testing.T) {
	tests := []struct {
		name, in string
		opt      Options
		want     string
		x, y     int
	}{
		{name: "text", in: "one\r\ntwo", want: "one\ntwo", x: 3, y: 1},
		{name: "bare line feed keeps the column", in: "ab\ncd", want: "ab\n  cd", x: 4, y: 1},
		{name: "wraps late", in: "abcd", opt: Options{Width: 4, Height: 2}, want: "abcd", x: 3},
		{name: "wraps", in: "abcde", opt: Options{Width: 4, Height: 2}, want: "abcd\ne", x: 1, y: 1},
		{name: "does not wrap", in: "\x1b[?7labcdefg", opt: Options{Width: 4, Height: 2}, want: "abcg", x: 3},
		{name: "carriage return cancels the wrap", in: "abcd\r\ne", opt: Options{Width: 4, Height: 3}, want: "abcd\ne", x: 1, y: 1},
		{name: "erase to the end", in: "abcdef\x1b[3G\x1b[K", want: "ab", x: 2},
		{name: "erase at the last column takes it", in: "abcd\x1b[K", opt: Options{Width: 4}, want: "abc", x: 3},
		{name: "erase below", in: "a\r\nb\r\nc\x1b[2A\x1b[J", want: "a", x: 1},
		{name: "moves", in: "\x1b[3;5Hx\x1b[2A\x1b[Dy", want: "    y\n\n    x", x: 5},
		{name: "wide characters", in: "漢字x", want: "漢字x", x: 5},
		{name: "wide character does not fit", in: "abc漢", opt: Options{Width: 4, Height: 2}, want: "abc\n漢", x: 2, y: 1},
		{name: "overwriting half a wide character", in: "漢字\x1b[2Gx", want: " x字", x: 2},
		{name: "combining", in: "e\u0301x", want: "e\u0301x", x: 2},
		{name: "joined emoji", in: "👩‍💻x", want: "👩‍💻x", x: 3},
		{name: "emoji by selector", in: "⚠️x", want: "⚠️x", x: 3},
		{name: "emoji by selector, narrow", in: "⚠️x", opt: Options{NarrowEmoji: true}, want: "⚠️x", x: 2},
		{name: "box drawing, wide", in: "│x", opt: Options{WideLines: true}, want: "│x", x: 3},
		{name: "title is not shown", in: "\x1b]0;title\aa", want: "a", x: 1},
		{name: "scrolls", in: "1\r\n2\r\n3", opt: Options{Height: 2}, want: "2\n3", x: 1, y: 1},
		{name: "tab", in: "a\tb", want: "a       b", x: 9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			term := New(tt.opt)
			write(t, term, tt.in)
			if diff := cmp.Diff(tt.want, term.String()); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
			if x, y := term.Cursor(); x != tt.x || y != tt.y {
				t.Errorf("cursor at %d,%d, want %d,%d", x, y, tt.x, tt.y)
			}
			if u := term.Stats().Unknown; u != nil {
				t.Errorf("unknown sequences: %q", u)
			}
		})
	}
}

func TestModes(t *testing.T) {
	term := New(Options{})
	write(t, term, "\x1b[?2004h\x1b[>4;2m\x1b[=1;1u\x1b[>5u\x1b[?25l\x1b[1;31m\x1b[?1049h")
	if diff := cmp.Diff(Modes{
		AltScreen: true, BracketedPaste: true, CursorHidden: true, ModifyKeys: 2, Style: "1;31",
	}, term.Modes()); diff != "" {
		t.Errorf("on the alternate screen:\n%s", diff)
	}
	write(t, term, "\x1b[?1049l")
	if m := term.Modes(); m.KittyKeys != 5 || m.KittyPushed != 1 {
		t.Errorf("Kitty flags %d, pushed %d; want 5, 1", m.KittyKeys, m.KittyPushed)
	}
	write(t, term, "\x1b[<u\x1b[=0;1u\x1b[>4m\x1b[?2004l\x1b[?25h\x1b[m")
	if diff := cmp.Diff(Modes{}, term.Modes()); diff != "" {
		t.Errorf("given back:\n%s", diff)
	}
}

func TestReplies(t *testing.T) {
	var got strings.Builder
	term := New(Options{Background: "rgb:1111/2222/3333", Reply: func(b []byte) { got.Write(b) }})
	write(t, term, "ab\x1b[6n\x1b[c\x1b]11;?\x1b\\\x1b[?2026$p\x1b[?u\x1b[?99$p")
	want := "\x1b[1;3R\x1b[?62;22c\x1b]11;rgb:1111/2222/3333\x1b\\\x1b[?2026;2$y\x1b[?0u\x1b[?99;0$y"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestStyles(t *testing.T) {
	term := New(Options{})
	write(t, term, "a\x1b[1;38;2;1;2;3mb\x1b[22mc\x1b[39;4:3md\x1b[0me")
	var got []string
	for x := range 5 {
		got = append(got, term.Cell(x, 0).Style)
	}
	want := []string{"", "1;38;2;1;2;3", "38;2;1;2;3", "4:3", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownIsCounted(t *testing.T) {
	term := New(Options{})
	write(t, term, "\x1b[5Z\x1bQ\x1b]99;x\a\x1b[?12345h\x01")
	if got := len(term.Stats().Unknown); got != 5 {
		t.Errorf("%d unknown sequences, want 5: %q", got, term.Stats().Unknown)
	}
}

func TestRewrap(t *testing.T) {
	const in = "short\r\nabcdefghij\r\n> x"
	tests := []struct {
		rewrap Rewrap
		want   string
		y      int
	}{
		{RewrapAll, "short\nabcdef\nghij\n> x", 3},
		{RewrapOthers, "short\nabcdef\nghij\n> x", 3},
		{RewrapNone, "short\nabcdef\n> x", 2},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.rewrap), func(t *testing.T) {
			term := New(Options{Width: 12, Height: 6, Rewrap: tt.rewrap})
			write(t, term, in)
			term.Resize(6, 6)
			if diff := cmp.Diff(tt.want, term.String()); diff != "" {
				t.Errorf("narrow:\n%s", diff)
			}
			if x, y := term.Cursor(); x != 3 || y != tt.y {
				t.Errorf("cursor at %d,%d, want 3,%d", x, y, tt.y)
			}
			term.Resize(12, 6)
			if want := "short\nabcdefghij\n> x"; tt.rewrap != RewrapNone && term.String() != want {
				t.Errorf("wide again: %q, want %q", term.String(), want)
			}
		})
	}
}

func TestCursorLineIsCut(t *testing.T) {
	term := New(Options{Width: 10, Height: 4, Rewrap: RewrapOthers})
	write(t, term, "0123456789\r\n0123456789\x1b[5G")
	term.Resize(5, 4)
	if want := "01234\n56789\n01234"; term.String() != want {
		t.Errorf("got %q, want %q", term.String(), want)
	}
}

func TestHeight(t *testing.T) {
	term := New(Options{Width: 10, Height: 4})
	write(t, term, "1\r\n2\r\n3\r\n4\r\n5")
	term.Resize(10, 2)
	if got := strings.Join(term.Scrollback(), ","); term.String() != "4\n5" || got != "1,2,3" {
		t.Errorf("low: %q after %q", term.String(), got)
	}
	term.Resize(10, 6)
	if term.String() != "1\n2\n3\n4\n5" || len(term.Scrollback()) != 0 {
		t.Errorf("high: %q after %q", term.String(), term.Scrollback())
	}
}

// Splitting a stream does not change its meaning, and no stream breaks the model.
func TestSplitStreams(t *testing.T) {
	pieces := []string{"a", "漢", "👩‍💻", "e\u0301", "\x1b[31m", "\x1b[m", "\x1b[2A", "\x1b[K", "\r\n", "\n", "\x1b]0;t\x1b\\", "\x1b[J", "\xff", "\x1b[?1049h", "\x1b[?1049l", "\x1b[5;3H"}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "stream"), "")
		opt := Options{Width: rapid.IntRange(1, 12).Draw(t, "width"), Height: rapid.IntRange(1, 5).Draw(t, "height")}
		whole, cut := New(opt), New(opt)
		whole.Write([]byte(s))
		for s != "" {
			n := rapid.IntRange(1, len(s)).Draw(t, "n")
			cut.Write([]byte(s[:n]))
			s = s[n:]
		}
		if diff := cmp.Diff(whole.History(), cut.History()); diff != "" {
			t.Fatal(diff)
		}
		w, h := rapid.IntRange(1, 20).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
		whole.Resize(w, h)
		if x, y := whole.Cursor(); x < 0 || y < 0 || x >= w || y >= h || len(whole.Screen()) != h {
			t.Fatalf("cursor at %d,%d on %d rows of %d×%d", x, y, len(whole.Screen()), w, h)
		}
	})
}

// A finished row must not change; a live row, or one not left yet, may.
func TestTouched(t *testing.T) {
	const live, done = "\x1b[?7l", "\x1b[?7h"
	tests := []struct{ name, in, want string }{
		{"live rows", live + "one\r\ntwo\x1b[A\rmore\x1b[K\r\n\x1b[J" + done, ""},
		{"a live row that is finished", live + "on" + done + "e\r\ntwo", ""},
		{"the row that is being written", "one\rtwo\x1b[K", ""},
		{"wrapped", "abcdefghij\x1b[A\rx", "written over: abcdefgh"},
		{"written over", "one\r\n\x1b[Ax", "written over: one"},
		{"the end of a row", "one\r\n\x1b[A\x1b[2C\x1b[K", "erased: one"},
		{"the whole row", "one\r\n\x1b[A\x1b[2K", "erased: one"},
		{"all below", "one\r\ntwo\r\n\x1b[2A\x1b[J", "erased: one|erased: two"},
		{"the screen", "one\r\n\x1b[2J", "erased: one"},
		{"the alternate screen", "one\r\n\x1b[?1049hx\r\n\x1b[H\x1b[2Jy\x1b[?1049l", ""},
		{"once", "one\r\n\x1b[Ax\x1b[2K", "written over: one"},
	}
	for _, tt := range tests {
		term := New(Options{Width: 8, Height: 4})
		write(t, term, tt.in)
		if got := strings.Join(term.Stats().Touched, "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	term := New(Options{Width: 8, Height: 4})
	write(t, term, "one\r\ntwo three\r\n")
	term.Resize(4, 4)
	write(t, term, "\x1b[2Ax")
	if got := strings.Join(term.Stats().Touched, "|"); !strings.HasPrefix(got, "written over: ") {
		t.Errorf("after a resize: %q", got)
	}
}
