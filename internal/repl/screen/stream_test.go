package screen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// stream draws an answer of the given size as it grows, frame by frame: finished lines for
// the scrollback, below them the growing line, a spinner, the prompt and a status line. It
// returns the number of characters shown.
func stream(s *Screen, chars, frames int) int {
	const width = 118
	var words strings.Builder
	for i := 0; words.Len() < chars; i++ {
		fmt.Fprintf(&words, "word%d \x1b[1mand\x1b[22m more ", i)
	}
	text := words.String()[:chars]
	line, shown := "", 0
	for f := range frames {
		piece := text[f*chars/frames : (f+1)*chars/frames]
		for _, word := range strings.SplitAfter(piece, " ") {
			if look(line+word).width > width {
				s.Print(line)
				line = ""
			}
			line += word
		}
		shown += len(piece)
		s.SetTail([]string{
			line, "", "\x1b[36m" + "⠋⠙⠹⠸"[f%4*3:f%4*3+3] + fmt.Sprintf("\x1b[2m writing · %ds · %d tokens · Esc stops\x1b[m", f/30, shown/4),
			"", "\x1b[36m❯ \x1b[mtyped ahead", "\x1b[2mlocal/model · main · context 12% · default mode\x1b[m",
		}, &Cursor{X: 13, Y: 4})
		s.Flush()
	}
	return shown
}

// The bytes for an answer at 30 frames a second: from a fast model (one second) and a slow
// one (one minute).
func TestBytesToTheTerminal(t *testing.T) {
	for _, tt := range []struct{ frames, most int }{{30, 140}, {1800, 450}} {
		s, term := openFake(t, vt.Options{Width: 120, Height: 40})
		chars := stream(s, 100_000, tt.frames)
		if kib := term.Stats().Bytes / 1024; kib > tt.most || chars != 100_000 {
			t.Errorf("%d frames: %d KiB for %d characters, at most %d wanted", tt.frames, kib, chars, tt.most)
		} else {
			t.Logf("%d frames: %d KiB for %d characters", tt.frames, kib, chars)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	for b.Loop() {
		s, _ := openFake(b, vt.Options{Width: 120, Height: 40})
		stream(s, 100_000, 30)
	}
}

// A key at the prompt costs the same after ten thousand lines as after none.
func BenchmarkKey(b *testing.B) {
	for _, before := range []int{0, 10_000} {
		b.Run(fmt.Sprint(before), func(b *testing.B) {
			s, _ := openFake(b, vt.Options{Width: 120, Height: 40})
			s.Print(numbered("line", before)...)
			s.Flush()
			typed := ""
			for b.Loop() {
				typed = typed[:len(typed)%80] + "x"
				s.SetTail([]string{"", "❯ " + typed, "status"}, &Cursor{X: 2 + len(typed), Y: 1})
				s.Flush()
			}
		})
	}
}

// After each of ten thousand resizes with a frame, the live region appears once and finished
// lines stay.
func TestTenThousandResizesAreDrawn(t *testing.T) {
	s, term := openFake(t, vt.Options{Width: 80, Height: 24})
	s.Print("finished")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 10_000 {
		w, h := 40+random.IntN(120), 16+random.IntN(44) // the live region fits, however it wraps
		term.Resize(w, h)
		s.Resize(w, h)
		s.SetTail([]string{strings.Repeat("=", w), fmt.Sprintf("> %d", i), "漢字 status"}, &Cursor{X: 2, Y: 1})
		s.Flush()
	}
	term.Resize(80, 24)
	s.Resize(80, 24)
	s.SetTail([]string{"> prompt", "status"}, &Cursor{X: 3})
	s.Flush()
	got := slices.DeleteFunc(term.History(), func(l string) bool { return l == "" })
	if d := cmp.Diff([]string{"finished", "> prompt", "status"}, got); d != "" || term.Stats().Touched != nil || s.Err() != nil {
		t.Errorf("touched %q, error %v, history:\n%s", term.Stats().Touched, s.Err(), d)
	}
}
