//go:build unix

package main

import (
	"strings"
	"testing"
	"time"
)

// A terminal that puts no brackets around a paste does not send its first line, however it is cut.
func TestPasteWithoutBracketsIsNotSent(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string][]string{
		"whole":           {"first line\rsecond line\rthird line\r"},
		"in the last one": {"first line\rsecond line\rthi", "rd line\r"},
		"line feeds":      {"first line\nsecond line\nthird line\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, answers(t, "Hello."), nil)
			d.sit()
			for _, part := range parts {
				d.Type(part)
			}
			d.WaitFor(`(?m)^❯ first line\n  second line\n  third line`)
			if screen := d.Screen(); strings.Contains(screen, "Esc stops") || strings.Contains(screen, "queued") {
				t.Errorf("something was sent:\n%s", screen)
			}
			d.Press("ctrl+c")
			d.gone("first line")
			d.leave()
		})
	}
}

// The terminal's own answers, late and in parts, are no text and no keys: their BEL would open $EDITOR.
func TestSplitReportsAreNoKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "Hello."), nil)
	d.env = append(d.env, "EDITOR=touch "+d.path("opened"), "VISUAL=")
	d.sit()
	for _, report := range []string{"\x1b]11;rgb:1e1e/1e1e/1e1e\a", "\x1b[?2026;2$y", "\x1bP>|XTerm(390)\x1b\\"} {
		for _, n := range []int{2, 3, 5, len(report) - 1} {
			d.Type(report[:n])
			<-time.After(300 * time.Millisecond) // as long as a slow line may take
			d.Type(report[n:])
		}
	}
	d.Type("hello")
	d.WaitFor(`(?m)^❯ hello$`)
	d.absent("opened")
	d.Press("enter")
	d.WaitFor(`Hello\.`)
	d.idle()
	d.leave()
}
