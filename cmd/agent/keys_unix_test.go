//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// keep writes a file of the user's home.
func (d *desk) keep(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.home, filepath.FromSlash(name))
	scratch.Write(d.t, path, text)
}

func (d *desk) gone(text string) {
	d.t.Helper()
	d.WaitUntil(text+" to go away", func(m *vt.Terminal) bool { return !strings.Contains(m.String(), text) })
}

func TestAQuestionMarkShowsTheKeys(t *testing.T) {
	d := newDesk(t, answers(t, "Because."), nil)
	d.sit()
	d.Press("?")
	d.WaitFor(`Shift\+Tab +permission mode`)
	d.Press("left")
	d.gone("permission mode")
	d.WaitFor(`default mode`)
	d.Press("?")
	d.WaitFor(`permission mode`)
	d.Press("?") // closes the list, and types nothing
	d.gone("permission mode")
	d.Type("why?") // text, where the prompt is not empty
	d.WaitFor(`(?m)^❯ why\?$`)
	d.Press("enter")
	d.WaitFor(`Because`)
	d.idle()
	d.leave()
}

func TestKeysOfTheUsersOwn(t *testing.T) {
	edit := llmtest.Call{Name: "edit_file", Args: `{"path":"a.txt","old_string":"one","new_string":"two"}`}
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{edit}}, llmtest.Turn{Text: "Done."}), map[string]string{"a.txt": "one\n"})
	d.keep("keys.yaml", "leave: ctrl+q\nmode: alt+m\napprove: alt+y\nhistory: ctrl+x\npager-close: z\n")
	d.sit()
	d.Press("shift+tab", "alt+m")
	d.WaitFor(`accept-edits mode`)
	d.Press("alt+m", "alt+m")
	d.WaitFor(`default mode`)
	d.say("change it")
	d.WaitFor(`(?m)^1 Alt\+Y yes · 2 a always`)
	d.awake("Alt+Y yes")
	d.Press("y", "alt+y")
	d.WaitFor(`Done\.`)
	d.idle()
	if got := d.read("a.txt"); got != "two\n" {
		t.Errorf("%q", got)
	}
	d.Press("ctrl+x")
	d.Type("chan")
	d.WaitFor(`(?m)^❯ change it`)
	d.Press("esc")
	d.Press("ctrl+o")
	d.WaitFor(`The full conversation`)
	d.Press("q", "z")
	d.gone("The full conversation")
	d.say("/keys")
	d.WaitFor(`Ctrl\+Q +leave`)
	d.Press("z")
	d.gone("All keys")
	d.Press("ctrl+d", "ctrl+q")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	d.restored()
}

func TestAnotherKeyStops(t *testing.T) {
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "one two three", Chunk: 4, Fault: llmtest.Stall, After: 2}), nil)
	d.keep("keys.yaml", "stop: [alt+s]\n")
	d.sit()
	d.say("count")
	d.WaitFor(`(?s)one.*Alt\+S stops`)
	d.Press("esc")
	d.Type("x")
	d.WaitFor(`(?m)^❯ x`)
	d.Press("ctrl+c", "alt+s")
	d.WaitFor(`Cancelled`)
	d.leave()
	if fired := d.server.Fired(llmtest.Stall); fired != 1 {
		t.Errorf("the server stalled %d times", fired)
	}
}

func TestAMistakeInTheKeysIsNamed(t *testing.T) {
	d := newDesk(t, answers(t), nil)
	d.keep("keys.yaml", "# mine\napprov: alt+y\nhistory: ctrl+y\nleave: ctrl+q\n")
	d.Terminal = ptytest.New(t, vt.Options{Width: 100, Height: 30})
	cmd := d.program()
	d.Start(cmd)
	d.WaitFor(`(?s)keys\.yaml: line 2: approv: .*did\s+you\s+mean\s+approve\?.*line 3: history: .*change\s+one of them.*the\s+rest\s+of\s+your\s+keys\s+is\s+used.*❯`)
	d.Press("ctrl+q")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}
