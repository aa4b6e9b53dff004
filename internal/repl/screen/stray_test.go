package screen

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// A resize that may leave rows of a frame behind is reported until Clear.
func TestStray(t *testing.T) {
	for name, c := range map[string]struct {
		hurry bool
		sizes [][2]int
		stray bool
	}{
		"wider":                     {false, [][2]int{{60, 12}}, false},
		"narrower":                  {false, [][2]int{{20, 12}}, false},
		"narrower while it arrives": {true, [][2]int{{20, 12}}, true},
		"lower than the region":     {false, [][2]int{{40, 2}, {40, 12}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, term := openFake(t, vt.Options{Width: 40, Height: 12})
			term.hurry = c.hurry
			s.SetTail([]string{strings.Repeat("=", 40), "", "", "> prompt"}, &Cursor{X: 3, Y: 3})
			s.Flush()
			for _, size := range c.sizes {
				term.Resize(size[0], size[1])
				s.Resize(size[0], size[1])
			}
			s.Flush()
			if s.Stray() != c.stray {
				t.Errorf("stray rows: %v, want %v", s.Stray(), c.stray)
			}
			s.Clear()
			s.Flush()
			if s.Stray() {
				t.Error("stray rows after Clear")
			}
		})
	}
}
