//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// absent checks that a file does not exist.
func (d *desk) absent(name string) {
	d.t.Helper()
	if _, err := os.Stat(d.path(name)); !errors.Is(err, fs.ErrNotExist) {
		d.t.Errorf("%s: %v", name, err)
	}
}

// TestAPromptStaysAPrompt: the text of an own command that returns from the queue or
// the conversation is a prompt, whatever its first character.
func TestAPromptStaysAPrompt(t *testing.T) {
	t.Parallel()
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

	d.Press("up") // the history has it as a prompt too
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

// TestAFolderBecomesOneOfGit: the files that turn a folder into a git repository are
// not written unasked, and after an edit that was not shown an allowed command asks
// again.
func TestAFolderBecomesOneOfGit(t *testing.T) {
	t.Parallel()
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
	d.asked(`(?s)create HEAD.*HEAD is\s+protected: it makes its folder a\s+git\s+folder`)
	d.Press("y")
	d.asked(`(?s)You allowed this command for the\s+session;\s+you\s+are\s+asked\s+again\s+because`)
	d.absent("owned")
	d.Press("n")
	d.idle()
	d.leave()
}

// TestAPatchMakesAFolderOneOfGit: files that only together make a git folder are asked about,
// whatever allows each of them.
func TestAPatchMakesAFolderOneOfGit(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"mode": {"--permission-mode", "accept-edits"}, "rule": {"--allow", "edit(**)"}} {
		t.Run(name, func(t *testing.T) {
			patch := "*** Begin Patch\n*** Add File: config\n+[core]\n+\tfsmonitor = touch owned; false\n*** Add File: objects/info/x\n+x\n" +
				"*** Add File: refs/heads/x\n+x\n*** Add File: HEAD\n+ref: refs/heads/main\n*** End Patch\n"
			patched, err := json.Marshal(map[string]string{"diff": patch})
			if err != nil {
				t.Fatal(err)
			}
			d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{{Name: "patch", Args: string(patched)}}}, llmtest.Turn{Text: "All done."}), nil)
			d.sit(args...)
			d.say("go on")
			d.asked(`(?s)These files together are\s+protected:\s+it\s+makes\s+its\s+folder\s+a\s+git\s+folder`)
			d.absent("HEAD")
			d.Press("n")
			d.idle()
			d.absent("HEAD")
			d.absent("config")
			d.leave()
		})
	}
}

// TestWhatIsShownIsWhatIsWritten: blanks at the ends of a name, look-alike letters,
// no-break spaces and text far to the right are visible in every mode.
func TestWhatIsShownIsWhatIsWritten(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"main.go ","content":"x\n"}`}}},
		llmtest.Turn{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"m\u0430\u2170n.go","content":"x\n"}`}}},
		llmtest.Turn{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"a.go","content":"p\u0430y()\n` + strings.Repeat(" ", 60) + `x\u00a0y\n"}`}}},
		llmtest.Turn{Calls: []llmtest.Call{{Name: "execute_command", Args: `{"command":"curl https://\u0430pp\u217ce.com/\u00a0x"}`}}},
		llmtest.Turn{Text: "All done."},
	), nil)
	d.sit("--permission-mode", "accept-edits")
	d.say("go on")
	d.asked(`(?s)create main\.go\\u\{20\}.*! the file's name is not what it looks like: main\.go\\u\{20\}`)
	d.Press("y")
	d.asked(`create m\\u\{430\}\\u\{2170\}n\.go`)
	d.Press("y")
	d.asked(`(?s)1 no-break or odd blank.*1 look-alike letter.*far to the\s+right.*1 \+ p\\u\{430\}y\(\).*x\\u\{a0\}y`)
	d.Press("y")
	d.asked(`(?s)2 look-alike letters.*\$ curl https://\\u\{430\}pp\\u\{217c\}e\.com/\\u\{a0\}x`)
	d.Press("n")
	d.idle()
	d.leave()
}

// TestAReadOutsideIsOfTheSession approves a read outside the workspace: the approval is
// listed, can be revoked, and ends with the session, like that of the output of a
// command at the prompt.
func TestAReadOutsideIsOfTheSession(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "notes.txt")
	scratch.Write(t, outside, "far away\n")
	read := llmtest.Turn{Calls: []llmtest.Call{{Name: "read_file", Args: `{"path":"` + outside + `"}`}}}
	d := newDesk(t, llmtest.NewServer(t, read, read, llmtest.Turn{Text: "First answer."},
		read, llmtest.Turn{Text: "Second answer."}, read, llmtest.Turn{Text: "Third answer."}), nil)
	d.sit()
	d.say("go on")
	d.asked(`read outside the workspace: .*notes\.txt`)
	d.Press("y")
	d.WaitFor(`First answer`) // the second read does not ask
	d.idle()
	take := func() {
		d.say("/permissions")
		d.WaitFor(`ask again: reading .*notes\.txt`)
	}
	take()
	d.Type("notes")
	d.WaitFor(`› ask again: reading .*notes\.txt`)
	d.Press("enter")
	d.WaitFor(`asks again: reading .*notes\.txt`)
	d.say("again")
	d.asked(`(?s)asks again.*read outside the workspace: .*notes\.txt`)
	d.Press("y")
	d.WaitFor(`Second answer`)
	d.idle()
	d.say("!echo of-the-old-$((40+2))")
	d.WaitFor(`of-the-old-42`)
	d.idle()
	d.say("/clear")
	d.WaitFor(`Started a new session`)
	d.say("once more")
	d.asked(`(?s)Started a new session.*read outside the workspace: .*notes\.txt`)
	d.Press("n")
	d.idle()
	if body := string(d.request(5)); strings.Contains(body, "of-the-old") {
		t.Errorf("the new session was told %s", body)
	}
	d.leave()
}

// TestTheEndOfADiffIsSeen answers y before the end of the diff was on the screen: the
// first y only names the missing lines.
func TestTheEndOfADiffIsSeen(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "line %d\\n", i+1)
	}
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"long.txt","content":"` + text.String() + `"}`}}},
		llmtest.Turn{Text: "Written."},
	), nil)
	d.sit()
	d.say("go on")
	d.asked(`create long\.txt`)
	d.Press("y")
	d.WaitFor(`You have not seen lines \d+–400\. Press y again`)
	d.absent("long.txt")
	d.Press("end")
	d.asked(`line 400`)
	d.Press("y")
	d.WaitFor(`Written`)
	d.idle()
	d.leave()
}

// TestAFolderWithALineBreak: the folder's name does not break a line of the output, on
// a terminal or elsewhere.
func TestAFolderWithALineBreak(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t), nil)
	d.dir = filepath.Join(d.dir, "a\nok: all is well\x1b[31m")
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"trust", "add", "--yes"}, {"trust", "list"}, {"trust", "remove"}, {"doctor"}, {"ide", "status"}, {"sessions", "list"}} {
		cmd := d.program(args...)
		out, _ := cmd.CombinedOutput() // doctor exits with status 1
		if strings.Contains(string(out), "\nok: all") || strings.Contains(string(out), "\x1b") {
			t.Errorf("agent %s: %q", args, out)
		}
	}
}
