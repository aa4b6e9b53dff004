package ide_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// TestSelectionOfAClosedFile: an editor that tells the last selection of a file that was closed since,
// in a new session or in this one, is not believed.
func TestSelectionOfAClosedFile(t *testing.T) {
	for name, dialect := range map[string]func() idetest.Dialect{"ours": idetest.Ours, "Neovim": idetest.Neovim} {
		r := newRig(t, nil)
		path, other := filepath.Join(r.dir, "a.txt"), filepath.Join(r.dir, "b.txt")
		scratch.Write(t, path, "one\ntwo\n")
		e := idetest.Start(t, dialect())
		e.World.Open(other, idetest.Document{})
		e.World.Select(&idetest.Selected{Path: path, Text: "two", StartLine: 2, EndLine: 2})
		if err := r.Connect(t.Context(), e.WriteLock(r.folder(e.Dialect), r.dir)); err != nil {
			t.Fatal(err)
		}
		if got := r.State(t.Context()); got.Selection != nil || r.Selection() != nil || r.Glance() != nil {
			t.Errorf("%s: told %+v", name, got.Selection)
		}
		e.World.Open(path, idetest.Document{Active: true})
		at := map[string]any{"line": 1, "character": 0}
		e.Notify("selection_changed", map[string]any{"filePath": path, "text": "two", "selection": map[string]any{"start": at, "end": at}})
		r.until("the selection", func() bool { return r.Glance() != nil })
		if got := r.State(t.Context()); got.Selection == nil {
			t.Errorf("%s: the selection of the open file is lost", name)
		}
		e.World.Shut(path)
		if got := r.State(t.Context()); got.Selection != nil || r.Selection() != nil || r.Glance() != nil {
			t.Errorf("%s: after it was closed: %+v", name, got.Selection)
		}
	}
}

// TestMute: an editor that has left a question for diagnostics unanswered is mute until it answers one.
func TestMute(t *testing.T) {
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	var answers atomic.Bool
	e.Handle("getDiagnostics", func(*idetest.Conn, rawJSON) idetest.Reply {
		if !answers.Load() {
			return idetest.Reply{Silent: true}
		}
		return idetest.Text("[]")
	})
	late := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	if _, _, err := r.Report(late(), "/a", 0); err == nil || r.Mute() {
		t.Errorf("%v, mute %v: it was not given time", err, r.Mute())
	}
	if _, _, err := r.Report(late(), "/a", time.Second); err == nil || !r.Mute() {
		t.Errorf("%v, mute %v", err, r.Mute())
	}
	answers.Store(true)
	r.until("an answer", func() bool {
		_, _, _ = r.Report(t.Context(), "/a", time.Second) // the answer to an earlier one may come first
		return !r.Mute()
	})
	if _, _, err := r.Report(t.Context(), "/a", time.Second); err != nil || r.Mute() {
		t.Errorf("%v, mute %v: it answers", err, r.Mute())
	}
}

// TestAnswerWaitsForNoTab: an answer in our own extension counts at once. The extension closes the
// tab itself, for which a busy editor may take long.
func TestAnswerWaitsForNoTab(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	for _, answer := range []func(*idetest.Diff){(*idetest.Diff).Accept, (*idetest.Diff).Reject} {
		req := r.proposal("old\n", "new\n")
		got := r.ask(t.Context(), req)
		answer(e.NextDiff())
		if o, _ := r.answered(got, req); o.err != nil || o.Unasked {
			t.Errorf("%+v", o)
		}
	}
	if asked := e.Requests("close_tab"); len(asked) > 0 {
		t.Errorf("the answers waited for tabs to close: %+v", asked)
	}
}
