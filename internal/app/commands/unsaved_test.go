package commands

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// reviews is a reviewer that runs a function.
type reviews func(confirm.Request) confirm.Verdict

func (f reviews) Review(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
	return f(req), nil
}

// linked returns a session that changed files in three turns, with an editor.
func linked(t *testing.T, r confirm.Reviewer) (*Set, *idetest.Editor) {
	t.Helper()
	return linkedAfter(t, r, threeTurns, "first", "second", "third")
}

// linkedAfter returns a session with a scripted model after prompts, with an editor.
func linkedAfter(t *testing.T, r confirm.Reviewer, script string, prompts ...string) (*Set, *idetest.Editor) {
	t.Helper()
	scratch.SetHome(t, t.TempDir())
	for _, name := range []string{"AGENT_IDE_PORT", "AGENT_IDE_LOCK", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	s := sittingAt(t, script, r, "true")
	s.App.Start(t.Context())
	s.App.Editor.Wait(t.Context())
	for _, prompt := range prompts {
		s.say(t, prompt)
	}
	e := idetest.Start(t, idetest.Ours())
	e.WriteLock(filepath.Join(s.App.Config.Home, "ide"), s.App.Dir)
	if text, err := s.App.Editor.Command(t.Context(), "connect"); err != nil || !strings.Contains(text, "Linked to Visual Studio Code") {
		t.Fatalf("%q, %v", text, err)
	}
	return s, e
}

// TestUndoLeavesWhatIsUnsaved: a file with unsaved changes in the editor is not restored,
// whether they were made before the question or while it is open.
func TestUndoLeavesWhatIsUnsaved(t *testing.T) {
	var typing func()
	var asked confirm.Request
	s, e := linked(t, reviews(func(req confirm.Request) confirm.Verdict {
		if asked = req; typing != nil {
			typing()
		}
		return confirm.Verdict{Decision: confirm.Approve}
	}))
	dirty := func(name string, is bool) {
		e.World.Open(filepath.Join(s.App.Dir, name), idetest.Document{Text: "mine\n", Dirty: is})
	}
	const reason = "it has unsaved changes in Visual Studio Code: save or revert it there first"
	dirty("c.txt", true)
	before := len(e.Requests("checkDocumentDirty"))
	if _, err := s.run(t, "/undo"); err == nil || err.Error() != "c.txt cannot be undone: "+reason {
		t.Error(err)
	}
	if len(e.Requests("checkDocumentDirty")) == before {
		t.Error("the editor was not asked")
	}
	reply := chosen(t, s.reply(t, "/rewind"), "first")
	if reply.Text != "c.txt cannot be restored: "+reason+"\n" || strings.Contains(strings.Join(items(reply), "|"), "others changed") {
		t.Errorf("%q, %q", reply.Text, items(reply))
	}
	typing = func() { dirty("a.txt", true) }
	if out, err := reply.Pick.Choose(t.Context(), filesOnly); err == nil || !strings.Contains(err.Error(), "nothing was put back: a.txt cannot be undone: "+reason) {
		t.Errorf("typed while it was asked: %+v, %v", out, err)
	}
	if s.tree(t) != "2 2, b, c" {
		t.Errorf("something was written: %q", s.tree(t))
	}
	typing = nil
	dirty("a.txt", false)
	if out := chosen(t, reply, "The files only"); !strings.Contains(out.Text, "put back: a.txt, new/b.txt\n") || s.tree(t) != "one, -, c" {
		t.Errorf("%+v, %q", out, s.tree(t))
	}
	if d := cmp.Diff(caution.Notes("c.txt is unchanged: "+reason), asked.Notes); d != "" {
		t.Error(d)
	}
	dirty("c.txt", false)
	if out := s.text(t, "/undo"); out != "undone: c.txt" || s.tree(t) != "one, -, -" {
		t.Errorf("%q, %q", out, s.tree(t))
	}
}

// TestUndoOfALinkToUnsavedText: the link goes, and the file that it leads to, which has unsaved
// changes in the editor, is left alone.
func TestUndoOfALinkToUnsavedText(t *testing.T) {
	const script = `
turns:
  - calls: [{tool: execute_command, args: {command: "ln -s a.txt link"}}]
  - text: Done.
`
	s, e := linkedAfter(t, reviews(func(confirm.Request) confirm.Verdict { return confirm.Verdict{Decision: confirm.Approve} }), script, "link it")
	link := filepath.Join(s.App.Dir, "link")
	if to, err := os.Readlink(link); to != "a.txt" {
		t.Fatalf("%q, %v", to, err)
	}
	for _, name := range []string{"a.txt", "link"} { // an editor follows the link
		e.World.Open(filepath.Join(s.App.Dir, name), idetest.Document{Text: "mine\n", Dirty: true})
	}
	if out := s.text(t, "/undo"); out != "undone: link" {
		t.Error(out)
	}
	if _, err := os.Lstat(link); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestUndoWaitsForASilentEditor: while a linked editor does not report whether files have
// unsaved changes, none is restored, and it is asked about one of them only.
func TestUndoWaitsForASilentEditor(t *testing.T) {
	s, e := linked(t, reviews(func(confirm.Request) confirm.Verdict { return confirm.Verdict{Decision: confirm.Approve} }))
	var reply atomic.Value
	reply.Store(idetest.Reply{Silent: true})
	e.Handle("checkDocumentDirty", func(*idetest.Conn, json.RawMessage) idetest.Reply { return reply.Load().(idetest.Reply) })
	before := s.tree(t)
	const reason = "Visual Studio Code does not answer, and may have unsaved changes of it: try again, or end the link with /ide disconnect"
	if _, err := s.run(t, "/undo"); err == nil || err.Error() != "c.txt cannot be undone: "+reason {
		t.Error(err)
	}
	n := len(e.Requests("checkDocumentDirty"))
	refused := chosen(t, s.reply(t, "/rewind"), "first")
	if strings.Count(refused.Text, reason) != 3 || s.tree(t) != before {
		t.Errorf("%q, %q", refused.Text, s.tree(t))
	}
	if n := len(e.Requests("checkDocumentDirty")) - n; n != 1 {
		t.Errorf("asked %d times", n)
	}
	reply.Store(idetest.JSON([]string{"unreadable"}))
	if _, err := s.run(t, "/undo"); err == nil || err.Error() != "c.txt cannot be undone: "+reason || s.tree(t) != before {
		t.Errorf("%v, %q", err, s.tree(t))
	}
	reply.Store(idetest.JSON(map[string]any{"success": true, "isDirty": false}))
	if out := s.text(t, "/undo"); out != "undone: c.txt" {
		t.Error(out)
	}
}
