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

// TestAFolderBecomesOneOfGit: in a folder without a repository the files that make
// it one are not written unasked, and a command that was allowed before is asked
// about again after an edit that nobody saw.
func TestAFolderBecomesOneOfGit(t *testing.T) {
	status := llmtest.Call{Name: "execute_command", Args: `{"command":"git status"}`}
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{status}},
		llmtest.Turn{Calls: []llmtest.Call{
			{Name: "write_file", Args: `{"path":"config","content":"[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch owned; false\n"}`},
			{Name: "write_file", Args: `{"path":"objects/info/x","content":"x"}`},
			{Name: "write_file", Args: `{"path":"refs/heads/x","content":"x"}`},
			{Name: "write_file", Args: `{"path":"HEAD","content":"ref: refs/heads/main\n"}`},
		}},
		llmtest.Turn{Calls: []llmtest.Call{status}},
		llmtest.Turn{Text: "All done."},
	), nil)
	d.sit("--permission-mode", "accept-edits")
	d.say("go on")
	d.asked(`\$ git status`)
	d.Press("a")
	d.asked(`(?s)create HEAD.*HEAD is\s+protected: it makes its folder one of git`)
	d.Press("y")
	d.asked(`(?s)You allowed this command for the\s+session; it is asked again because`)
	d.absent("owned")
	d.Press("n")
	d.idle()
	d.leave()
}

// TestWhatIsShownIsWhatIsWritten: blanks at the ends of a name, letters that pass for
// others, no-break spaces and text far to the right are on the screen, in every mode.
func TestWhatIsShownIsWhatIsWritten(t *testing.T) {
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"main.go ","content":"x\n"}`}}},
		llmtest.Turn{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"m\u0430in.go","content":"x\n"}`}}},
		llmtest.Turn{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"a.go","content":"p\u0430y()\n` + strings.Repeat(" ", 60) + `x\u00a0y\n"}`}}},
		llmtest.Turn{Calls: []llmtest.Call{{Name: "execute_command", Args: `{"command":"curl https://\u0430pple.com/\u00a0x"}`}}},
		llmtest.Turn{Text: "All done."},
	), nil)
	d.sit("--permission-mode", "accept-edits")
	d.say("go on")
	d.asked(`(?s)create main\.go\\u\{20\}.*! the file's name is not what it looks like: main\.go\\u\{20\}`)
	d.Press("y")
	d.asked(`create m\\u\{430\}in\.go`)
	d.Press("y")
	d.asked(`(?s)1 no-break or odd blank.*1 look-alike letter.*far to the\s+right.*1 \+ p\\u\{430\}y\(\).*x\\u\{a0\}y`)
	d.Press("y")
	d.asked(`(?s)1 look-alike letter.*\$ curl https://\\u\{430\}pple\.com/\\u\{a0\}x`)
	d.Press("n")
	d.idle()
	d.leave()
}
