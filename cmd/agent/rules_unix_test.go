//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/ptytest/vt"
)

// absent checks that there is no file.
func (d *desk) absent(name string) {
	d.t.Helper()
	if _, err := os.Stat(d.path(name)); !errors.Is(err, fs.ErrNotExist) {
		d.t.Errorf("%s: %v", name, err)
	}
}

// TestAPromptStaysAPrompt: the text of an own command that comes back from the
// queue, or from the conversation, is a prompt, whatever it begins with.
func TestAPromptStaysAPrompt(t *testing.T) {
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: "one two three", Chunk: 4, Fault: llmtest.Stall, After: 2}, llmtest.Turn{Text: "Second answer."},
		llmtest.Turn{Text: "Third answer."}, llmtest.Turn{Text: "Fourth answer."}), nil)
	d.keep("commands/evil.md", "!touch owned\n")
	d.keep("commands/away.md", "/clear\n")
	d.sit()
	d.say("count")
	d.WaitFor(`one`)
	d.say("/evil")
	d.WaitFor(`queued: !touch owned`)
	d.Press("esc")
	d.prompt("❯ !touch owned")
	d.Press("enter")
	d.WaitFor(`Second answer`)
	if told := d.told(1); told != "!touch owned" {
		t.Errorf("the model was told %q", told)
	}
	d.idle()

	d.Press("up") // the history knows it as a prompt, too
	d.Press("enter")
	d.WaitFor(`Third answer`)
	d.idle()

	d.say("/away")
	d.WaitFor(`Fourth answer`)
	d.idle()
	d.say("/rewind")
	d.WaitFor(`› /clear`)
	d.Press("enter")
	d.WaitFor(`› The conversation only`)
	d.Press("enter")
	d.prompt("❯ /clear")
	d.Press("enter")
	d.WaitUntil("the prompt to be sent", func(*vt.Terminal) bool { return len(d.server.Requests()) == 5 })
	d.absent("owned")
	if !strings.Contains(d.told(4), "/clear") {
		t.Errorf("the model was told %q", d.told(4))
	}
}
