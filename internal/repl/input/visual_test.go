package input

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The selection of visual mode is visible, even on an empty line.
func TestSelectionIsDrawn(t *testing.T) {
	e := New(Options{Vi: true, NoColor: true})
	e.Paste("one two\n\nthree")
	press(e, "esc 'ggwvG'")
	want := []string{"one \x1b[7mt\x1b[m\x1b[7mw\x1b[m\x1b[7mo\x1b[m", "\x1b[7m \x1b[m", "\x1b[7mt\x1b[mhree"}
	lines, _, _ := e.View(40, 5)
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
	press(e, "esc")
	lines, _, _ = e.View(40, 5)
	if d := cmp.Diff([]string{"one two", "", "three"}, lines); d != "" {
		t.Error("after Esc:", d)
	}
}
