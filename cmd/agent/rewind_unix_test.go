//go:build unix

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// changed starts a session in which two prompts have changed three files.
func changed(t *testing.T) *desk {
	t.Helper()
	edit := func(name, args string) llmtest.Call { return llmtest.Call{Name: name, Args: args} }
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{
			edit("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
			edit("write_file", `{"path":"new/b.txt","content":"b\n"}`),
		}},
		llmtest.Turn{Text: "First done."},
		llmtest.Turn{Calls: []llmtest.Call{
			edit("edit_file", `{"path":"a.txt","old_string":"two","new_string":"three"}`),
			edit("write_file", `{"path":"c.txt","content":"c\n"}`),
		}},
		llmtest.Turn{Text: "Second done."},
		llmtest.Turn{Text: "Third done."},
	), map[string]string{"a.txt": "one\n"})
	if err := os.Chmod(d.path("a.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.sit("--permission-mode", "accept-edits")
	d.say("the first prompt")
	d.WaitFor(`First done`)
	d.idle()
	d.say("the second prompt")
	d.WaitFor(`Second done`)
	d.idle()
	return d
}

// holds checks the content of the three files, "-" for a missing one, and the mode of
// the first.
func (d *desk) holds(want ...string) {
	d.t.Helper()
	for i, name := range []string{"a.txt", "new/b.txt", "c.txt"} {
		got := "-"
		if data, err := os.ReadFile(d.path(name)); err == nil {
			got = strings.TrimSpace(string(data))
		} else if !errors.Is(err, fs.ErrNotExist) {
			d.t.Fatal(err)
		}
		if got != want[i] {
			d.t.Errorf("%s holds %q, want %q", name, got, want[i])
		}
	}
	if info, err := os.Stat(d.path("a.txt")); err != nil || info.Mode().Perm() != 0o600 {
		d.t.Errorf("a.txt: %v, %v", info.Mode(), err)
	}
}

// TestEscEscGoesBackToAPrompt goes back with the keys: messages after the prompt are
// not sent again, its text is at the prompt, and the files are as before.
func TestEscEscGoesBackToAPrompt(t *testing.T) {
	t.Parallel()
	d := changed(t)
	d.Press("esc")
	d.WaitFor(`Esc again goes back to an earlier prompt`)
	d.Press("esc")
	d.WaitFor(`Go back to before which prompt\?`)
	d.WaitFor(`(?m)^› the second prompt +2 files \+2 −1 +just now`)
	d.Press("enter")
	d.WaitFor(`(?m)^› Files and conversation +2 files \+1 −2`)
	d.Press("enter")
	d.asked(`go back to before that prompt: 2 files \+1 −2`)
	d.Press("y")
	d.WaitFor(`put back: a\.txt, c\.txt`)
	d.WaitFor(`(?m)^❯ the second prompt$`)
	d.holds("two", "b", "-")
	d.Press("ctrl+u")
	d.say("another prompt")
	d.WaitFor(`Third done`)
	if body := string(d.request(4)); strings.Contains(body, "the second prompt") || !strings.Contains(body, "the first prompt") {
		t.Errorf("the model is sent %s", body)
	}
	d.idle()
	d.leave()
}

func TestRewindOfOneHalf(t *testing.T) {
	t.Parallel()
	d := changed(t)
	d.say("/rewind")
	d.WaitFor(`Go back to before which prompt\?`)
	d.Press("down", "enter")
	d.WaitFor(`(?m)^› Files and conversation +3 files`)
	d.Press("down", "enter")
	d.asked(`go back to before that prompt: 2 files|3 files`)
	d.Press("down", "space", "y") // without the second one
	d.WaitFor(`put back: a\.txt, c\.txt`)
	d.holds("one", "b", "-")
	d.say("/redo")
	d.asked(`redo what was undone: 2 files`)
	d.Press("y")
	d.WaitFor(`redone: a\.txt, c\.txt`)
	d.holds("three", "b", "c")
	d.Press("esc", "esc")
	d.WaitFor(`(?m)^› the second prompt`)
	d.Press("enter")
	d.WaitFor(`The conversation only`)
	d.Press("down", "down", "enter")
	d.WaitFor(`(?m)^❯ the second prompt$`)
	d.holds("three", "b", "c")
	d.Press("ctrl+c")
	d.leave()
}

// TestEscEscKeepsADraft clears the prompt; ↑ restores the text.
func TestEscEscKeepsADraft(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t), nil)
	d.sit()
	d.Type("a long thought")
	d.Press("esc")
	d.WaitFor(`Esc again clears the prompt`)
	d.Press("esc")
	d.WaitFor(`(?m)^❯$`)
	d.Press("up")
	d.WaitFor(`(?m)^❯ a long thought`)
	d.Press("esc", "esc") // at once, as a terminal may send them
	d.WaitFor(`(?m)^❯$`)
	d.Press("esc", "esc")
	d.WaitFor(`no prompt to go back to yet`)
	d.leave()
}

// TestEscLeavesADraftToVi: vi users press Esc repeatedly. On an empty prompt it still
// goes back.
func TestEscLeavesADraftToVi(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t), nil)
	scratch.Mkdir(t, d.home)
	scratch.Write(t, filepath.Join(d.home, "config.yaml"), "interface:\n  input: vim\n")
	d.sit()
	d.Type("a long thought")
	d.Press("esc", "esc", "esc", "esc")
	d.Type("xx")
	d.WaitFor(`(?m)^. a long thoug$`)
	d.Type("dd")
	d.WaitFor(`(?m)^.$`)
	d.Press("esc")
	d.WaitFor(`Esc again goes back`)
	d.Press("esc")
	d.WaitFor(`no prompt to go back to yet`)
	d.leave()
}

// On plain lines Ctrl+D leaves an open question, but not the program.
func TestCtrlDAtAQuestionOnPlainLines(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, writeTurn, llmtest.Turn{Text: "Done."}, llmtest.Turn{Text: "I am here."}), nil)
	d.open()
	d.run("agent", "--screen-reader")
	read := func(pattern string) {
		t.Helper()
		d.WaitFor(pattern)
		<-time.After(600 * time.Millisecond) // as long as a person needs to read; earlier lines do not answer
	}
	d.WaitFor(`(?m)^you:`)
	d.say("write")
	read(`answer: 1 yes`)
	d.Type("1\r")
	d.WaitFor(`agent: Done\.`)
	d.say("/rewind")
	read(`Which\? \[1 to 1`)
	d.Type("1\r")
	read(`Which\? \[1 to 3`)
	d.Type("2\r")
	read(`answer: 1 yes, 3 no, or`)
	d.Press("ctrl+d")
	d.WaitFor(`nothing was put back`)
	d.say("/rewind")
	read(`(?s)nothing was put back.*Which\? \[1 to 1`)
	d.Press("ctrl+d")
	d.WaitFor(`(?s)nothing was put back.*Which\? .*you:`)
	d.say("still there?")
	d.WaitFor(`agent: I am here`)
	d.WaitFor(`(?s)I am here\..*you:`)
	d.leave()
	if got := d.read("a.txt"); got == "" {
		t.Error("the file is gone")
	}
}

func TestUndoRedoAndDiff(t *testing.T) {
	t.Parallel()
	d := changed(t)
	d.say("/diff")
	d.WaitFor(`(?m)^› all 3 files +\+3 −1`)
	d.Press("down", "down", "enter")
	d.WaitFor(`lines 1–`)
	d.WaitFor(`create new/b\.txt +\+1 −0`)
	d.Press("q")
	d.WaitFor(`(?m)^› all 3 files`)
	d.Press("esc")
	d.say("/diff a.txt")
	d.WaitFor(`edit a\.txt +\+1 −1`)
	d.WaitFor(`(?m)1 \+ three`)
	d.say("/diff turn")
	d.WaitFor(`(?m)^› the second prompt +2 files`)
	d.Press("esc")
	d.say("/undo")
	d.asked(`undo the last change: removes the file`)
	d.Press("y")
	d.WaitFor(`undone: c\.txt`)
	d.say("/undo turn")
	d.asked(`three`)
	d.Press("n")
	d.WaitFor(`nothing was undone`)
	d.holds("three", "b", "-")
	d.say("/undo new/b.txt")
	d.asked(`undo the last change: removes the file`)
	d.Press("y")
	d.WaitFor(`undone: new/b\.txt`)
	d.holds("three", "-", "-")
	for _, name := range []string{"new/b.txt", "c.txt"} {
		d.gone("y accept") // or the next wait could see the question before
		d.say("/redo")
		d.asked(`create ` + regexp.QuoteMeta(name))
		d.Press("y")
		d.WaitFor(`redone: ` + name)
	}
	d.say("/redo")
	d.WaitFor(`nothing to redo`)
	d.holds("three", "b", "c")
	d.leave()
}

// TestInterruptedUndoIsMentioned expects a note about it in the next session.
func TestInterruptedUndoIsMentioned(t *testing.T) {
	t.Parallel()
	d := changed(t)
	d.leave()
	cmd := d.program("undo", "--turn", "--yes")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d.holds("two", "b", "-")
	logs, err := filepath.Glob(filepath.Join(d.home, "undo", "*", "*.log"))
	if err != nil || len(logs) != 2 {
		t.Fatalf("%v, %v", logs, err)
	}
	of := slices.Max(logs)
	data, err := os.ReadFile(of)
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.LastIndex(data, []byte(`"of":2`)) // in the middle of its record
	if second < 0 {
		t.Fatal("the undo is not in the journal")
	}
	err = errors.Join(os.Truncate(of, int64(second)), os.Rename(of, strings.TrimSuffix(of, ".log")+".live"))
	if err != nil {
		t.Fatal(err)
	}
	d.sit()
	d.WaitFor(`The program ended during an undo: 1 of 2 files`)
	d.leave()
}

// TestRewindOfForeignChanges rewinds a file that others changed: it is named, goes
// back on request, and a redo restores it.
func TestRewindOfForeignChanges(t *testing.T) {
	t.Parallel()
	d := changed(t)
	d.write("a.txt", "mine\n")
	d.say("/rewind")
	d.WaitFor(`Go back to before which prompt\?`)
	d.Press("down", "enter")
	d.WaitFor(`a\.txt cannot be restored: somebody else has changed it since`)
	d.Type("others")
	d.WaitFor(`(?m)^› Files that others changed since, too +1 more file`)
	d.Press("enter")
	d.WaitFor(`(?m)^› Files and conversation +3 files`)
	d.Press("down", "enter")
	d.asked(`a\.txt: changes by others in it are lost, too`)
	d.Press("y")
	d.WaitFor(`put back: a\.txt, new/b\.txt, c\.txt`)
	d.holds("one", "-", "-")
	d.say("/redo")
	d.asked(`redo what was undone: 3 files`)
	d.Press("y")
	d.WaitFor(`redone: a\.txt, new/b\.txt, c\.txt`)
	d.holds("mine", "b", "c")
	d.leave()
}
