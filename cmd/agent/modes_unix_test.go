//go:build unix

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// The newest message tells the model the permission mode, once, and again after a change,
// within a turn as well. Earlier messages do not change.
func TestModelIsToldTheMode(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: "One."}, llmtest.Turn{Text: "Two."}, llmtest.Turn{Text: "Three."},
		editCall("hello", "good day"), llmtest.Turn{Text: "Four."}, llmtest.Turn{Text: "Five."}), map[string]string{"main.go": program})
	d.sit()
	told := func(n int, mode string) {
		t.Helper()
		last := d.told(n)
		if strings.Contains(last, "[Permission mode: ") != (mode != "") || !strings.Contains(last, mode) {
			t.Errorf("request %d tells %q, want %q", n, last, mode)
		}
	}
	turn := func(prompt, answer string) {
		t.Helper()
		d.say(prompt)
		d.WaitFor(answer)
		d.idle()
	}
	turn("first", `One\.`)
	told(0, "")
	d.Press("shift+tab", "shift+tab")
	d.WaitFor(`plan mode`)
	turn("second", `Two\.`)
	told(1, "[Permission mode: plan. Edits and commands are declined, except some read-only commands")
	turn("third", `Three\.`)
	told(2, "")
	d.Press("shift+tab")
	d.WaitFor(`default mode`)
	d.say("be polite")
	d.asked(`good day`)
	told(3, "[Permission mode: default. Edits and commands are shown to the user")
	d.Press("shift+tab")
	d.gone("default mode")
	d.Press("y")
	d.WaitFor(`Four\.`)
	d.idle()
	told(4, "[Permission mode: accept-edits. Edits are written without asking")
	for n := 1; n < 5; n++ {
		before, now := d.server.Requests()[n-1], d.server.Requests()[n]
		if kept := bytes.TrimSuffix(before, []byte("]}")); !bytes.HasPrefix(now, kept) {
			t.Errorf("request %d does not begin with the one before it", n)
		}
	}
	d.leave()
	d.sit("-c")
	turn("fifth", `Five\.`)
	told(5, "[Permission mode: default. ") // the conversation names others
	d.leave()
}

// In -p the model learns that nobody can be asked, in the modes that ask.
func TestModelIsToldThatNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"default":      "[Permission mode: default. Nobody can be asked",
		"accept-edits": "[Permission mode: accept-edits. Edits are written unseen. Nobody can be asked",
		"plan":         "[Permission mode: plan. Edits and commands are declined, except some read-only commands",
		"bypass":       "[Permission mode: bypass. Edits and commands are carried out",
	} {
		d := newDesk(t, answers(t, "Done."), nil)
		if code, out := d.prompted("--permission-mode", mode); code != 0 {
			t.Errorf("%s: exit status %d: %s", mode, code, out)
		}
		if last := d.told(0); !strings.HasPrefix(last, want) {
			t.Errorf("%s: %q", mode, last)
		}
	}
}
