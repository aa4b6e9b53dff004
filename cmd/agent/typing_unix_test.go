//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// A paste of ten megabytes is a placeholder, can be edited around, and arrives
// complete.
func TestTenMegabytesArePasted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "I see."), nil)
	d.sit()
	line := "0123456789 the quick brown fox 漢字 jumps over it\n"
	text := strings.Repeat(line, 10<<20/len(line)+1)
	d.Type("see ")
	d.Paste(text)
	d.WaitFor(`\[pasted [0-9,]+ lines #1\]`)
	d.Type(" now")
	d.Press("left", "left", "left", "left", "backspace", "ctrl+_")
	d.prompt("❯ see [pasted 201,650 lines #1] now")
	d.Press("enter")
	d.WaitFor(`I see`)
	if told := d.told(0); len(told) != len("see ")+len(text)+len(" now") {
		t.Errorf("the model was told %d bytes of %d", len(told), len(text))
	}
	d.idle()
	d.Look(func(m *vt.Terminal) {
		if n := len(m.History()); n > 60 {
			t.Errorf("%d lines are in the scrollback", n)
		}
	})
	d.leave()
}
