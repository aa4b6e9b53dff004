package screen

import (
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// Only the theme's colors reach the terminal.
func TestPalette(t *testing.T) {
	theme := paint.Palette{
		paint.Bad: paint.RGB(0xff0000), paint.Good: paint.Index(12), paint.GoodBack: paint.RGB(0x00ff00), paint.Accent: paint.RGB(0x0000ff),
	}
	tests := []struct{ in, all, some, none string }{
		{"\x1b[31m", "\x1b[38;2;255;0;0m", "\x1b[38;5;196m", ""},
		{"\x1b[1;32m", "\x1b[1;94m", "\x1b[1;94m", "\x1b[1m"},
		{"\x1b[0;94m", "\x1b[0;38;2;0;0;255m", "\x1b[;38;5;21m", "\x1b[m"},
		{"\x1b[38;5;1;48;5;22m", "\x1b[38;2;255;0;0;48;2;0;255;0m", "\x1b[38;5;196;48;5;46m", ""},
		{"\x1b[33m", "\x1b[39m", "\x1b[39m", ""},
		{"\x1b[101m", "\x1b[49m", "\x1b[49m", ""},
		{"\x1b[38;2;1;2;3m", "\x1b[39m", "\x1b[39m", ""},
		{"\x1b[4;38:2::1:2:3;7m", "\x1b[4;39;7m", "\x1b[4;39;7m", "\x1b[4;7m"},
		{"\x1b[4;58;2;1;2;3m", "\x1b[4m", "\x1b[4m", "\x1b[4m"},
		{"\x1b[38;5;300m", "\x1b[39m", "\x1b[39m", ""},
		{"\x1b[38m", "\x1b[39m", "\x1b[39m", ""},
		{"\x1b[3m", "\x1b[3m", "\x1b[3m", "\x1b[3m"},
		{"\x1b[m", "\x1b[m", "\x1b[m", "\x1b[m"},
	}
	for _, tt := range tests {
		for profile, want := range map[colorprofile.Profile]string{
			colorprofile.TrueColor: tt.all, colorprofile.ANSI256: tt.some, colorprofile.ASCII: tt.none,
		} {
			p := palette{profile: profile, colors: theme}
			for range 2 { // the second time from the cache
				if got := p.translate(tt.in); got != want {
					t.Errorf("%v: %q became %q, want %q", profile, tt.in, got, want)
				}
			}
		}
	}
}

// A new theme changes the live region at once, but not finished lines.
func TestPaletteChanges(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 20, Height: 5})
	s.SetPalette(paint.Palette{paint.Bad: paint.RGB(0x010101)})
	s.Print("\x1b[31mdone")
	s.SetTail([]string{"\x1b[31mlive"}, nil)
	s.Flush()
	s.SetPalette(paint.Palette{paint.Bad: paint.RGB(0x020202)})
	s.Flush()
	for y, want := range []string{"38;2;1;1;1", "38;2;2;2;2"} {
		if got := term.Cell(0, y).Style; got != want {
			t.Errorf("row %d has %q, want %q", y, got, want)
		}
	}
}
