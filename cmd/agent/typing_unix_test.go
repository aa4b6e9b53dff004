//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/ptytest/vt"
)

// Each key of the prompt, as a terminal sends it. The cursor is seen by the x that is
// typed last.
func TestTheKeysOfThePrompt(t *testing.T) {
	d := newDesk(t, answers(t), nil)
	d.sit()
	for _, c := range []struct{ text, keys, want string }{
		{"one two", "left x", "one twxo"},
		{"one two", "ctrl+b x", "one twxo"},
		{"one two", "home right x", "oxne two"},
		{"one two", "ctrl+a ctrl+f x", "oxne two"},
		{"one two", "ctrl+a ctrl+e x", "one twox"},
		{"one two", "home end x", "one twox"},
		{"one two", "alt+b x", "one xtwo"},
		{"one two", "ctrl+left x", "one xtwo"},
		{"one two", "alt+left x", "one xtwo"},
		{"one two", "home alt+f x", "onex two"},
		{"one two", "home ctrl+right x", "onex two"},
		{"one two", "backspace x", "one twx"},
		{"one two", "ctrl+h x", "one twx"},
		{"one two", "home delete x", "xne two"},
		{"one two", "home ctrl+d x", "xne two"},
		{"one two", "home ctrl+k x", "x"},
		{"one two", "ctrl+u x", "x"},
		{"one two", "ctrl+w x", "one x"},
		{"one two", "alt+backspace x", "one x"},
		{"one two", "home alt+d x", "x two"},
		{"one two", "ctrl+w ctrl+y x", "one twox"},
		{"one two", "ctrl+w left ctrl+u ctrl+y alt+y x", "twox"},
		{"one two", "ctrl+w ctrl+_ x", "one twox"},
		{"one two", "ctrl+w ctrl+_ alt+/ x", "one x"},
		{`one\`, "enter x", "one\n  x"},
		{"one", "alt+enter x", "one\n  x"},
		{"one", "ctrl+j x", "one\n  x"},
		{"one", "ctrl+j a b up x", "onxe\n  ab"},
		{"one", "ctrl+j a b up down x", "one\n  abx"},
		{"one", "ctrl+j a ctrl+home x", "xone\n  a"},
		{"one", "ctrl+j a ctrl+home ctrl+end x", "one\n  ax"},
	} {
		d.Type(c.text)
		d.Press(strings.Fields(c.keys)...)
		want := "❯ " + c.want + "\n"
		d.WaitUntil(c.text+" "+c.keys+": "+c.want, func(m *vt.Terminal) bool {
			var b strings.Builder
			for _, row := range m.Screen() {
				b.WriteString(strings.TrimRight(row, " ") + "\n")
			}
			return strings.Contains(b.String(), want)
		})
		d.Press("ctrl+c", "a", "backspace") // the other key forgets the first Ctrl+C
		d.prompt("❯")
	}
	d.leave()
}

// Ten megabytes are a placeholder, can be edited around, and arrive whole.
func TestTenMegabytesArePasted(t *testing.T) {
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
