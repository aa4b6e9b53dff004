//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// foreign starts an editor with another agent's plugin in the desk's folder, to be
// linked without asking.
func (d *desk) foreign(dialect idetest.Dialect) *idetest.Editor {
	d.t.Helper()
	e := d.starts(dialect)
	e.WriteLock(filepath.Join(filepath.Dir(d.home), ".claude", "ide"), d.folder())
	d.env = append(d.env, "AGENT_IDE_FOREIGN=auto")
	return e
}

// askedIn starts a foreign editor and a session in which the model proposes an edit,
// and returns the editor's diff.
func (d *desk) askedIn(dialect idetest.Dialect) (*idetest.Editor, *idetest.Diff) {
	d.t.Helper()
	e := d.foreign(dialect)
	d.sit()
	d.WaitFor(dialect.Name)
	d.say("be polite")
	return e, e.NextDiff()
}

// TestSignalsCloseDiffs ends the agent by signals: no diff remains in an editor that
// keeps the diffs of disconnected clients.
func TestSignalsCloseDiffs(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			d := politeDesk(t)
			e, _ := d.askedIn(idetest.Emacs())
			d.asked(`also open in Emacs`)
			d.Signal(sig)
			if code := d.Wait(); code != 130 {
				t.Errorf("exit status %d", code)
			}
			if n := e.OpenDiffs(); n != 0 {
				t.Errorf("%d diffs are left open", n)
			}
			if d.read("main.go") != program {
				t.Error("written")
			}
		})
	}
}

// TestDiffOfADeadAgent kills an agent whose diff stays open in Emacs. The answer
// reaches the next agent, but does not count for its question.
func TestDiffOfADeadAgent(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Calls: []llmtest.Call{writeCall("other.txt", "another file\n")}}, llmtest.Turn{Text: "All done."})
	e := d.foreign(idetest.Emacs())
	e.Handle("closeAllDiffTabs", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Text("CLOSED_0_DIFF_TABS") })
	d.sit()
	d.WaitFor(`Emacs`)
	d.say("be polite")
	old := e.NextDiff()
	d.asked(`also open in Emacs`)
	d.Signal(syscall.SIGKILL)
	d.Wait()
	e.WaitConns(0)

	d.sit()
	d.WaitFor(`Emacs`)
	d.say("write")
	diff := e.NextDiff()
	d.asked(`also open in Emacs`)
	old.Accept()
	old.Reject()
	diff.Accept()
	d.WaitFor(`All done\.`)
	if got := d.read("other.txt"); got != "another file\n" {
		t.Errorf("other.txt holds %q", got)
	}
	if d.read("main.go") != program {
		t.Error("the dead agent's edit was written")
	}
	d.idle()
	d.leave()
}

// TestQuitEditor quits an editor, which rejects its diffs: the turn goes on.
func TestQuitEditor(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	e, diff := d.askedIn(idetest.Neovim())
	d.asked(`also open in Neovim`)
	diff.Dismiss()
	e.WaitRequests("close_tab", 1) // the rejection has come
	e.Stop()
	d.WaitFor(`the link to Neovim is lost: answer here`)
	d.asked(`y yes`)
	d.Press("y")
	d.WaitFor(`All done\.`)
	if !strings.Contains(d.read("main.go"), "good day") {
		t.Error("not written")
	}
	d.idle()
	d.leave()
}

// TestOldTextInNeovim answers yes in the terminal: Neovim may still hold the old text,
// so its findings are unknown and it is not asked to save.
func TestOldTextInNeovim(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, editCall("good day", "moin"), llmtest.Turn{Text: "All done."})
	e := d.foreign(idetest.Neovim())
	e.World.Open(filepath.Join(d.folder(), "main.go"), idetest.Document{Active: true})
	d.sit()
	d.WaitFor(`Neovim`)
	d.say("be polite")
	e.NextDiff()
	d.asked(`also open in Neovim`)
	e.Handle("saveDocument", func(_ *idetest.Conn, args json.RawMessage) idetest.Reply {
		if strings.Contains(string(args), "proposed)") {
			return idetest.JSON(map[string]any{"success": false, "message": "Document not open"})
		}
		d.write("main.go", program) // the content of its buffer
		return idetest.JSON(map[string]any{"success": true})
	})
	e.World.Open(filepath.Join(d.folder(), "main.go"), idetest.Document{Active: true, Dirty: true})
	d.Press("y")
	d.WaitFor(`(?s)save .*main\.go.* Neovim`)
	d.asked(`y`)
	d.Press("y")
	d.WaitFor(`All done\.`)
	if told := d.told(1); !strings.Contains(told, "diagnostics of the file are not known") {
		t.Errorf("the model was told %q", told)
	}
	if told := d.told(2); !strings.Contains(told, "save it there by hand") {
		t.Errorf("the model was told %q", told)
	}
	if got := d.read("main.go"); !strings.Contains(got, "good day") {
		t.Errorf("the old text is back: %q", got)
	}
	d.idle()
	d.leave()
}

// TestInTheTerminalOfAPlugin starts the program as a plugin does, with flags and an
// environment for another program.
func TestInTheTerminalOfAPlugin(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		dialect idetest.Dialect
		args    []string
		note    string
	}{
		"Neovim": {idetest.Neovim(), nil, ""},
		"Emacs": {idetest.Emacs(), []string{
			"-d", "--append-system-prompt", "IMPORTANT: Connected to Emacs", "--mcp-config", `{"mcpServers":{}}`,
			"--allowedTools", "mcp__emacs-tools__xref", "mcp__emacs-tools__imenu",
		}, `ignored, as they have no meaning here: -d, --append-system-prompt, --mcp-config, --allowedTools`},
	} {
		t.Run(name, func(t *testing.T) {
			d := politeDesk(t, llmtest.Turn{Text: "All done."})
			e := d.starts(tt.dialect)
			e.WriteLock(filepath.Join(filepath.Dir(d.home), ".claude", "ide"), d.folder())
			d.env = append(d.env, fmt.Sprintf("CLAUDE_CODE_SSE_PORT=%d", e.Port()), "ENABLE_IDE_INTEGRATION=true", "FORCE_CODE_TERMINAL=true")
			d.sit(tt.args...)
			d.WaitFor(name)
			d.WaitFor(tt.note)
			d.say("be polite")
			diff := e.NextDiff()
			diff.Edit(strings.Replace(program, "hello", "moin", 1))
			diff.Accept()
			d.WaitFor(`All done\.`)
			if got := d.read("main.go"); got != strings.Replace(program, "hello", "moin", 1) {
				t.Errorf("main.go: %q", got)
			}
			if told := d.told(1); !strings.Contains(told, "The user changed the proposal") {
				t.Errorf("the model was told %q", told)
			}
			d.idle()
			d.leave()
		})
	}
}

// TestUnrelatedTextIsShownFirst: text that Emacs returns instead of the proposal is shown
// before it is written.
func TestUnrelatedTextIsShownFirst(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	e, diff := d.askedIn(idetest.Emacs())
	d.asked(`also open in Emacs`)
	diff.Edit("something else altogether\n")
	diff.Accept()
	d.asked(`something else altogether`)
	d.WaitFor(`(?s)Emacs returned this text.*it has little in common with the text that was\s+shown`)
	if d.read("main.go") != program {
		t.Error("written unseen")
	}
	if again := e.NextDiff(); again.Text != "something else altogether\n" {
		t.Errorf("Emacs shows %q", again.Text)
	}
	d.asked(`also open in Emacs`)
	d.Press("y")
	d.WaitFor(`All done\.`)
	if got := d.read("main.go"); got != "something else altogether\n" {
		t.Errorf("main.go: %q", got)
	}
	e.WaitOpenDiffs(0)
	d.idle()
	d.leave()
}

// TestYesAcceptsTextTypedInNeovim answers in the terminal after typing in Neovim.
func TestYesAcceptsTextTypedInNeovim(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	_, diff := d.askedIn(idetest.Neovim())
	d.asked(`also open in Neovim; y takes what you type there`)
	diff.Edit(strings.Replace(program, "hello", "moin", 1))
	d.Press("y")
	d.WaitFor(`All done\.`)
	if got := d.read("main.go"); got != strings.Replace(program, "hello", "moin", 1) {
		t.Errorf("main.go: %q", got)
	}
	if told := d.told(1); !strings.Contains(told, "The user changed the proposal") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}
