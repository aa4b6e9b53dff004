//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// folder is the desk's folder as editors know it.
func (d *desk) folder() string {
	d.t.Helper()
	dir, err := filepath.EvalSymlinks(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	return dir
}

// editor starts an editor that has the desk's folder open.
func (d *desk) editor(dialect idetest.Dialect) *idetest.Editor {
	d.t.Helper()
	e := d.starts(dialect)
	e.WriteLock(filepath.Join(d.home, "ide"), d.folder())
	return e
}

// closed waits until there is no panel.
func (d *desk) closed() {
	d.t.Helper()
	d.WaitUntil("the panel to go", func(m *vt.Terminal) bool { return !strings.Contains(m.String(), "y yes") })
}

func politeDesk(t *testing.T, more ...llmtest.Turn) *desk {
	t.Helper()
	turns := append([]llmtest.Turn{editCall("hello", "good day")}, more...)
	return newDesk(t, llmtest.NewServer(t, turns...), map[string]string{"main.go": program})
}

// TestAnswerInTheEditor: the diff is open in the editor and in the terminal; the text
// accepted in the editor is written, the panel goes, and the model gets the changes.
func TestAnswerInTheEditor(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	e := d.editor(idetest.Ours())
	d.sit()
	d.WaitFor(`Visual Studio Code`) // the status line
	d.say("be polite")
	diff := e.NextDiff()
	d.asked(`also open in Visual Studio Code`)
	if diff.Path != filepath.Join(d.folder(), "main.go") || diff.Text != strings.Replace(program, "hello", "good day", 1) {
		t.Errorf("shown %s %q", diff.Path, diff.Text)
	}
	diff.Edit(strings.Replace(program, "hello", "moin", 1))
	d.WaitFor(`edited in Visual Studio Code \+5 −5`)
	if d.read("main.go") != program {
		t.Error("written before the answer")
	}
	diff.Accept()
	d.WaitFor(`All done\.`)
	d.closed()
	if got, want := d.read("main.go"), strings.Replace(program, "hello", "moin", 1); got != want {
		t.Errorf("main.go: %q", got)
	}
	if told := d.told(1); !strings.Contains(told, "The user changed the proposal") || !strings.Contains(told, `+`+"\t"+`println("moin")`) {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// openKey: o asks the editor to show the diff, each time, and the question stays open.
func openKey(t *testing.T, seen *pressed) {
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	e := d.editor(idetest.Ours())
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("be polite")
	diff := e.NextDiff()
	d.asked(`also open in Visual Studio Code`)
	d.Press("?")
	d.WaitFor(`o open in Visual Studio Code`)
	d.Press("o", "o")
	diff.WaitShown(2)
	d.asked(`edit main\.go`)
	e.Handle("resolveDiff", func(*idetest.Conn, json.RawMessage) idetest.Reply {
		return idetest.Refuse("DIFF_NOT_FOUND", "no such review")
	})
	d.Press("o")
	d.WaitFor(`Visual Studio Code does not show the diff`)
	d.Press("n")
	d.WaitFor(`Declined\. What should I do`)
	if d.read("main.go") != program {
		t.Error("written without an answer")
	}
	d.idle()
	d.leave()
	seen.add(keys.Question, "o")
}

func TestRejectInTheEditor(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "As you like."})
	e := d.editor(idetest.Ours())
	before := stat(t, d.path("main.go"))
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("be polite")
	e.NextDiff().RejectWith(map[string]any{"feedback": "we are in Hamburg"})
	d.WaitFor(`As you like`)
	d.closed()
	if after := stat(t, d.path("main.go")); after != before {
		t.Errorf("the file changed: %v, was %v", after, before)
	}
	if told := d.told(1); !strings.Contains(told, "declined") || !strings.Contains(told, "we are in Hamburg") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// TestYesInTheTerminalTakesTheDraft: typed in the editor, answered in the terminal.
func TestYesInTheTerminalTakesTheDraft(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	e := d.editor(idetest.Ours())
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("be polite")
	diff := e.NextDiff()
	diff.Edit(strings.Replace(program, "hello", "moin", 1))
	d.asked(`edited in Visual Studio Code .* y takes that text`)
	d.Press("y")
	d.WaitFor(`All done\.`)
	<-diff.Closed
	if !strings.Contains(d.read("main.go"), "moin") {
		t.Errorf("main.go: %q", d.read("main.go"))
	}
	d.idle()
	d.leave()
}

// TestEditFirstTakesTheDraft: e begins with the text typed in the editor, whose diff
// goes away meanwhile, and comes back with the result.
func TestEditFirstTakesTheDraft(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	scratch.Program(t, d.path("ed.sh"), "#!/bin/sh\nsed -i.orig 's/moin/moin moin/' \"$1\"\n")
	d.env = append(d.env, "EDITOR="+d.path("ed.sh"), "VISUAL=")
	e := d.editor(idetest.Ours())
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("be polite")
	first := e.NextDiff()
	first.Edit(strings.Replace(program, "hello", "moin", 1))
	d.asked(`edited in Visual Studio Code`)
	d.Press("e")
	<-first.Closed
	second := e.NextDiff()
	want := strings.Replace(program, "hello", "moin moin", 1)
	if second.Text != want {
		t.Errorf("shown again as %q", second.Text)
	}
	d.asked(`moin moin`)
	d.Press("y")
	d.WaitFor(`All done\.`)
	if d.read("main.go") != want {
		t.Errorf("main.go: %q", d.read("main.go"))
	}
	d.idle()
	d.leave()
}

// TestUnsavedInTheEditor: the file is saved there first, and the edit is made on the
// typed text.
func TestUnsavedInTheEditor(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	e := d.editor(idetest.Ours())
	typed := "// typed\n" + program
	path := filepath.Join(d.folder(), "main.go")
	e.World.Open(path, idetest.Document{Text: typed, Dirty: true})
	e.Handle("saveDocument", func(*idetest.Conn, json.RawMessage) idetest.Reply {
		d.write("main.go", typed)
		e.World.Open(path, idetest.Document{Text: typed})
		return idetest.JSON(map[string]any{"success": true, "filePath": path, "saved": true})
	})
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("be polite")
	d.asked(`save main\.go in Visual Studio Code`)
	d.Press("y")
	diff := e.NextDiff()
	if want := strings.Replace(typed, "hello", "good day", 1); diff.Text != want {
		t.Errorf("shown %q", diff.Text)
	}
	diff.Accept()
	d.WaitFor(`All done\.`)
	d.idle()
	d.leave()
}

// TestEditorTells: diagnostics, tabs and the selection reach the model, a mention
// the prompt.
func TestEditorTells(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	e := d.editor(idetest.Ours())
	path := filepath.Join(d.folder(), "main.go")
	e.World.Open(path, idetest.Document{Active: true})
	e.World.Select(&idetest.Selected{Path: path, Text: "func main() {", StartLine: 3, EndLine: 3})
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	at := func(line int) map[string]any { return map[string]any{"line": line, "character": 0} }
	e.Notify("selection_changed", map[string]any{
		"filePath": path, "text": "func main() {", "selection": map[string]any{"start": at(2), "end": at(3)},
	})
	d.WaitFor(`Visual Studio Code: main\.go:3`)
	e.Notify("at_mentioned", map[string]any{"filePath": path, "lineStart": 2, "lineEnd": 4})
	d.WaitFor(`❯ @main\.go#L3-5`)
	e.Notify("at_mentioned", map[string]any{"filePath": d.folder() + "/"})
	e.Notify("at_mentioned", map[string]any{"filePath": path})
	d.WaitFor(`❯ @main\.go#L3-5 @\./ @main\.go\s`)
	e.Notify("at_mentioned", map[string]any{"filePath": path + "\x1b[2J\x1b]0;x\a"})
	e.Notify("diff_changed", map[string]any{"diffId": "\x1b[2J", "edited": true})
	d.say("and @selection be polite")
	e.NextDiff()
	request := string(d.request(0))
	for _, want := range []string{
		"IDE connected: Visual Studio Code", "Open tabs: main.go", "Active: main.go", "Selection: main.go:3",
		"@main.go#L3-5", "@selection is main.go:3", "func main() {",
	} {
		if !strings.Contains(request, want) {
			t.Errorf("%q is not in the request", want)
		}
	}
	e.World.Find(true, idetest.Finding{Path: path, Line: 4, Column: 1, Severity: "Error", Message: "no such word"})
	d.asked(`good day`)
	d.Press("y")
	d.WaitFor(`All done\.`)
	if told := d.told(1); !strings.Contains(told, "New diagnostics since the edit:\n[error] main.go:4 — no such word") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// TestLostEditor: the question stays open in the terminal, nothing is written, and the
// editor shows it again when it comes back.
func TestLostEditor(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	e := d.editor(idetest.Ours())
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("be polite")
	e.NextDiff()
	d.asked(`also open in`)
	e.Stop()
	d.WaitFor(`the link to Visual Studio Code is lost: answer here`)
	e.Listen()
	e.WriteLock(filepath.Join(d.home, "ide"), d.folder())
	e.NextDiff().Accept()
	d.WaitFor(`All done\.`)
	if !strings.Contains(d.read("main.go"), "good day") {
		t.Error("not written")
	}
	d.idle()
	d.leave()
}

// TestIDECommand is /ide with no editor, with one, and with three of which one is
// stale.
func TestIDECommand(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), map[string]string{"main.go": program})
	d.sit()
	d.say("/ide")
	d.WaitFor(`No editor connected`)
	d.say("/ide connect")
	d.WaitFor(`no editor can be linked: open this folder in VS Code to connect it`)

	one := d.editor(idetest.Ours())
	d.say("/ide connect")
	d.WaitFor(fmt.Sprintf(`Linked to Visual Studio Code \(port %d\) since \d\d:`, one.Port()))
	d.say("/ide")
	d.WaitFor(`extension +agent-ide 1\.2\.3`)
	d.WaitFor(`1  Visual Studio Code .* linked`)

	stale := d.editor(idetest.Ours())
	stale.Stop()
	neovim := d.starts(idetest.Neovim())
	neovim.WriteLock(filepath.Join(filepath.Dir(d.home), ".claude", "ide"), d.folder())
	d.say("/ide status")
	d.WaitFor(fmt.Sprintf(`2  Neovim \(port %d\)`, neovim.Port()))
	d.WaitFor(fmt.Sprintf(`3  Visual Studio Code \(port %d\)`, stale.Port()))
	d.say(fmt.Sprintf("/ide connect %d", stale.Port()))
	d.WaitFor(`cannot be connected`)

	d.say("/ide connect")
	d.WaitFor(`Choose an editor`)
	d.Type("neo")
	d.Press("enter")
	d.WaitFor(fmt.Sprintf(`Linked to Neovim \(port %d\)`, neovim.Port()))
	one.WaitConns(0)
	d.say("/ide disconnect")
	d.WaitFor(`Disconnected`)
	neovim.WaitConns(0)
	d.leave()
}

// TestNoIDE: the switch holds.
func TestNoIDE(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	e := d.editor(idetest.Ours())
	d.sit("--no-ide")
	d.say("/ide")
	d.WaitFor(`editors are switched off`)
	if a, r := e.Handshakes(); a+r != 0 {
		t.Errorf("%d handshakes", a+r)
	}
	d.leave()
}

// TestHeadlessWithTheEditor: -p --ide asks in the editor, and a tab that is closed
// by hand is a no. Commands are nobody's to approve there.
func TestHeadlessWithTheEditor(t *testing.T) {
	t.Parallel()
	run := llmtest.Turn{Calls: []llmtest.Call{{Name: "execute_command", Args: `{"command":"touch ran"}`}}}
	for name, tt := range map[string]struct {
		first  llmtest.Turn
		answer func(d *idetest.Diff)
		status int
		holds  string
		told   string
	}{
		"accepted":  {editCall("hello", "good day"), func(d *idetest.Diff) { d.Accept() }, 0, "good day", "Wrote main.go"},
		"closed":    {editCall("hello", "good day"), func(d *idetest.Diff) { d.Dismiss() }, 3, "hello", ""}, // the turn stops
		"a command": {run, nil, 3, "hello", "nobody could be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t, tt.first, llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
			e := d.editor(idetest.Ours())
			cmd := d.program("-p", "be polite", "--ide")
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if tt.answer != nil {
				diff := e.NextDiff()
				if diff.OnClose != "reject" {
					t.Errorf("on_close %q", diff.OnClose)
				}
				tt.answer(diff)
			}
			_ = cmd.Wait() // a status other than 0 is an error
			if got := cmd.ProcessState.ExitCode(); got != tt.status {
				t.Errorf("status %d: %s", got, out.String())
			}
			if !strings.Contains(d.read("main.go"), tt.holds) {
				t.Errorf("main.go: %q", d.read("main.go"))
			}
			if _, err := os.Stat(d.path("ran")); err == nil {
				t.Error("the command was run")
			}
			if tt.told != "" && !strings.Contains(d.told(1), tt.told) {
				t.Errorf("the model was told %q", d.told(1))
			}
		})
	}
}

// TestHeadlessWithoutAnEditor: requests that need an answer are denied, with the
// reason.
func TestHeadlessWithoutAnEditor(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	cmd := d.program("-p", "be polite", "--ide")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != 3 || !strings.Contains(stderr.String(), "every question will be denied") {
		t.Errorf("status %d: %s", got, stderr.String())
	}
	if d.read("main.go") != program {
		t.Error("written without an answer")
	}
}

// TestC5WithoutAnEditor: with no editor anywhere, the diff is shown in the terminal,
// nothing is written before the answer, and the accepted text is written.
func TestC5WithoutAnEditor(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	d.sit()
	d.say("be polite")
	d.asked(`good day`)
	if d.read("main.go") != program {
		t.Error("written before the answer")
	}
	d.Type("y")
	d.WaitFor(`All done\.`)
	if !strings.Contains(d.read("main.go"), "good day") {
		t.Error("not written")
	}
	if told := d.told(1); !strings.Contains(told, "Wrote main.go") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}
