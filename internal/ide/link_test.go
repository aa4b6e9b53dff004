package ide_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
)

type rawJSON = json.RawMessage

// TestConnectsByItself: the editor that has the folder open is found and linked
// without being asked for, also when it comes later.
func TestConnectsByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.untilState(ide.Looking)
	e := idetest.Start(t, idetest.Ours())
	e.WriteLock(r.locks, r.dir)
	r.untilState(ide.Connected)
	s := r.Status()
	if s.Editor.Port != e.Port() || !s.Info.Ours || s.Since.IsZero() {
		t.Errorf("%+v", s)
	}
}

// TestAwait: the wait for an editor ends with the link, or as soon as it is known that
// no editor can be linked.
func TestAwait(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	if r.Await(t.Context()) {
		t.Error("there is no editor")
	}
	e := idetest.Start(t, idetest.Ours())
	e.WriteLock(r.locks, r.dir)
	other := newRig(t, func(o *ide.Options) { o.Search.Folder, o.Search.Dir = r.locks, r.dir })
	if !other.Await(t.Context()) {
		t.Error("there is an editor")
	}
}

func TestForeignEditorIsOnlyOffered(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := idetest.Start(t, idetest.Neovim())
	path := e.WriteLock(r.folder(e.Dialect), r.dir)
	r.untilState(ide.Looking)
	if a, _ := e.Handshakes(); a != 0 {
		t.Error("linked without being asked for")
	}
	if err := r.Connect(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if s := r.Status(); s.State != ide.Connected || s.Editor.Path != path {
		t.Errorf("%+v", s)
	}
}

func TestDisconnectStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	if err := r.Disconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.WaitConns(0)
	if s := r.Status(); s.State != ide.Off || s.Why == "" {
		t.Errorf("%+v", s)
	}
	if got := r.State(t.Context()); got.Name != "" {
		t.Errorf("still sees %+v", got)
	}
	if err := r.Connect(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	e.WaitConns(1)
}

func TestConnectWithoutAnEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	if err := r.Connect(t.Context(), ""); !errors.Is(err, ide.ErrNoEditor) {
		t.Errorf("Connect = %v", err)
	}
	if err := r.Connect(t.Context(), "/no/such.lock"); !errors.Is(err, ide.ErrNoEditor) || r.Status().State != ide.Off {
		t.Errorf("Connect = %v, %+v", err, r.Status())
	}
}

// TestRefusedToken: the lock is read once more, and then left alone until it holds
// another token.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := idetest.Start(t, idetest.Ours())
	right := e.WriteLock(t.TempDir(), r.dir) // where nobody looks
	old, err := os.ReadFile(right)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.locks, filepath.Base(right))
	scratch.Mkdir(t, r.locks)
	if err := os.WriteFile(path, []byte(strings.Replace(string(old), "token-of", "wrong-of", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("the second refusal", func() bool {
		_, n := e.Handshakes()
		return n >= 2 && strings.HasPrefix(r.Status().Why, "Visual Studio Code has this folder open, but it and its lock file do not agree")
	})
	if a, n := e.Handshakes(); a != 0 || n != 2 {
		t.Errorf("%d accepted, %d refused", a, n)
	}
	if err := r.Connect(t.Context(), path); !errors.Is(err, wire.ErrImpostor) {
		t.Errorf("Connect = %v", err)
	}
	scratch.Write(t, path, string(old))
	if err := r.Connect(t.Context(), path); err != nil {
		t.Error(err)
	}
}

// TestTheftIsNotFought: a link that again and again ends right after it was made is
// left to the other session.
func TestTheftIsNotFought(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	first, _ := e.Handshakes() // the search at the start may have found it before the test connected
	for range 2 {
		before := r.Status().Since
		e.Drop()
		r.until("another link", func() bool { s := r.Status(); return s.State == ide.Connected && s.Since != before })
	}
	e.Drop()
	r.untilState(ide.Off)
	if !strings.Contains(r.Status().Why, "another session") {
		t.Errorf("%+v", r.Status())
	}
	if a, _ := e.Handshakes(); a != first+2 {
		t.Errorf("%d connections after the first %d", a-first, first)
	}
}

// TestReloadsAreNoTheft: a window that is loaded again and again, each time right after
// it was linked, is another editor each time.
func TestReloadsAreNoTheft(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	for n := range 5 {
		before := r.Status().Since
		e.Know(fmt.Sprintf("token-of-reload-%d-and-more-of-it", n))
		e.WriteLock(r.locks, r.dir)
		e.Drop()
		r.until("another link", func() bool { s := r.Status(); return s.State == ide.Connected && s.Since != before })
	}
}

// TestState: State returns the editor's state without files outside of the folder.
func TestState(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	path := filepath.Join(r.dir, "a.txt")
	scratch.Write(t, path, "one\ntwo\n")
	for name, dialect := range dialects {
		e := idetest.Start(t, dialect())
		e.World.Open(path, idetest.Document{Active: true})
		e.World.Open("/etc/passwd", idetest.Document{})
		e.World.Select(&idetest.Selected{Path: path, Text: "two", StartLine: 2, EndLine: 2})
		e.World.Find(true, idetest.Finding{Path: path, Line: 1, Column: 1, Severity: "Error", Message: "bad"},
			idetest.Finding{Path: "/etc/passwd", Line: 1, Column: 1, Severity: "Error", Message: "secret"})
		if err := r.Connect(t.Context(), e.WriteLock(r.folder(e.Dialect), r.dir)); err != nil {
			t.Fatal(err)
		}
		got := r.State(t.Context())
		if len(got.Diagnostics) != 1 || got.Diagnostics[0].Line != 1 || got.Name != e.Dialect.Name {
			t.Errorf("%s: %+v", name, got)
		}
		if name == "Emacs" || name == "JetBrains" {
			continue // they tell of no tabs and selections when asked
		}
		if len(got.Tabs) != 1 || got.Tabs[0].Path != path || !got.Tabs[0].Active {
			t.Errorf("%s: tabs %+v", name, got.Tabs)
		}
		want := &editor.Selection{Path: path, StartLine: 2, EndLine: 2, Text: "two"}
		if diff := cmp.Diff(want, got.Selection); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(want, r.Selection()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(want, r.Glance()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestGlanceReadsOnce: a Glance at every key reads no file.
func TestGlanceReadsOnce(t *testing.T) {
	t.Parallel()
	reads := 0
	r := newRig(t, func(o *ide.Options) {
		o.Read = func(string) (string, error) {
			reads++
			return "one\ntwo\n", nil
		}
	})
	if r.Glance() != nil {
		t.Error("a selection without an editor")
	}
	e := r.editor(idetest.Neovim())
	path := filepath.Join(r.dir, "a.txt")
	tell := func(line int, text string) {
		at := func(l int) map[string]any { return map[string]any{"line": l, "character": 0} }
		e.Notify("selection_changed", map[string]any{
			"filePath": path, "text": text, "selection": map[string]any{"start": at(line), "end": at(line)},
		})
		r.until("the selection "+text, func() bool { s := r.Glance(); return s != nil && s.Text == text })
	}
	tell(0, "one")
	for range 100 {
		r.Glance()
	}
	tell(1, "two")
	if reads != 2 {
		t.Errorf("%d looks at the file", reads)
	}
}

// TestStalledEditor: an editor that does not answer delays one turn, for as long as the
// caller allows, and no turn after it.
func TestStalledEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	for _, tool := range []string{"getOpenEditors", "getDiagnostics", "getLatestSelection"} {
		e.Handle(tool, func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Reply{Silent: true} })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r.State(ctx)
	if ctx.Err() == nil {
		t.Error("the first turn did not wait at all")
	}
	r.State(t.Context()) // would hang until the editor answers
	if n := len(e.Requests("getOpenEditors")); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	if _, _, err := r.Report(t.Context(), "", 0); !errors.Is(err, editor.ErrNone) {
		t.Errorf("without an editor: %v", err)
	}
	if name, unsaved := r.Unsaved(t.Context(), "/x"); name != "" || unsaved {
		t.Error("without an editor: unsaved")
	}
	if err := r.Save(t.Context(), "/x"); !errors.Is(err, editor.ErrNone) {
		t.Errorf("without an editor: %v", err)
	}
	e := r.editor(idetest.Ours())
	path := filepath.Join(r.dir, "a.txt")
	e.World.Open(path, idetest.Document{Dirty: true})
	if name, unsaved := r.Unsaved(t.Context(), path); name != e.Dialect.Name || !unsaved {
		t.Errorf("%q, %v", name, unsaved)
	}
	if err := r.Save(t.Context(), path); err != nil {
		t.Error(err)
	}
	if _, unsaved := r.Unsaved(t.Context(), path); unsaved {
		t.Error("not saved")
	}
	e.World.Find(false, idetest.Finding{Path: path, Line: 3, Column: 1, Severity: "Error", Message: "bad"})
	found, known, err := r.Report(t.Context(), path, time.Millisecond)
	if err != nil || known || len(found) != 1 || found[0].Line != 3 {
		t.Errorf("%+v, %v, %v", found, known, err)
	}
}

// TestUnsavedWaitsForTheFirstLink: the first edit, right after the start, is not built
// on a text older than the one in the editor.
func TestUnsavedWaitsForTheFirstLink(t *testing.T) {
	t.Parallel()
	var path string
	r := newRig(t, func(o *ide.Options) {
		e := idetest.Start(t, idetest.Ours())
		path = filepath.Join(o.Search.Dir, "a.txt")
		e.World.Open(path, idetest.Document{Dirty: true})
		e.WriteLock(o.Search.Folder, o.Search.Dir)
	})
	if _, unsaved := r.Unsaved(t.Context(), path); !unsaved {
		t.Error("the first edit did not wait for its editor")
	}
}

// TestUnsavedIsAskedBriefly: an edit is not held up by an editor that does not
// say.
func TestUnsavedIsAskedBriefly(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	e.Handle("checkDocumentDirty", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Reply{Silent: true} })
	if _, unsaved := r.Unsaved(t.Context(), filepath.Join(r.dir, "a.txt")); unsaved {
		t.Error("unsaved")
	}
}

// TestEncoding: the editor's encoding of a file is used, from a busy editor too, and not waited for
// for long if it does not come.
func TestEncoding(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	path := filepath.Join(r.dir, "a.txt")
	if got := r.Encoding(path); got != "" {
		t.Errorf("without an editor: %q", got)
	}
	e := r.editor(idetest.Ours())
	e.World.Open(path, idetest.Document{Encoding: "shiftjis"})
	if got := r.Encoding(path); got != "shift_jis" {
		t.Errorf("got %q", got)
	}
	e.Handle("checkDocumentDirty", func(*idetest.Conn, rawJSON) idetest.Reply {
		<-time.After(1500 * time.Millisecond)
		return idetest.JSON(map[string]any{"success": true, "encoding": "shiftjis"})
	})
	if got := r.Encoding(path); got != "shift_jis" {
		t.Errorf("a busy editor's answer was not waited for: %q", got)
	}
	e.Handle("checkDocumentDirty", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Reply{Silent: true} })
	var reads sync.WaitGroup
	for range 50 { // more than may wait
		reads.Go(func() {
			if got := r.Encoding(path); got != "" {
				t.Errorf("got %q", got)
			}
		})
	}
	reads.Wait()
	if n := len(e.Requests("checkDocumentDirty")); n > 3 {
		t.Errorf("a silent editor was asked %d times", n)
	}
}

func TestMentionAndFlood(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	path := filepath.Join(r.dir, "a.txt")
	e.Notify("at_mentioned", map[string]any{"filePath": path, "lineStart": 4, "lineEnd": 9})
	r.until("the mention", func() bool { return len(r.mentions) == 1 && r.mentions[0] == fmt.Sprint(path, 5, 10) })
	for i := range 5000 {
		at := map[string]any{"line": i, "character": 0}
		e.Notify("selection_changed", map[string]any{
			"filePath": path, "text": "x", "selection": map[string]any{"start": at, "end": at},
		})
	}
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	e.NextDiff().Accept()
	if o, text := r.answered(got, req); text != "new\n" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestDoubleAnswers: many questions, each answered in the terminal and in the editor
// within 5 ms, in turn edited, accepted and rejected there. Each has one outcome, it is
// the answer of one of them, and no diff stays.
func TestDoubleAnswers(t *testing.T) {
	t.Parallel()
	load, random := stress.Size(200, 20_000), rand.New(rand.NewPCG(stress.Seed(t), 0))
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	won := map[string]int{}
	for i := range load {
		req := r.proposal("old\n", fmt.Sprintf("new %d\n", i))
		got := r.ask(t.Context(), req)
		d := e.NextDiff()
		<-r.terminal.shown
		both(t, r, d, i, random)
		o, text := r.answered(got, req)
		edited := fmt.Sprintf("edited %d\n", i)
		switch {
		case o.err != nil || o.Unasked:
			t.Fatalf("%d: %+v", i, o)
		case o.Decision == confirm.Approve && text != req.File().After && text != edited:
			t.Fatalf("%d: approved %q", i, text)
		case o.Decision == confirm.Approve && i%3 == 0 && text != edited:
			t.Fatalf("%d: the edit was passed over by %s", i, o.By)
		case o.Decision == confirm.Reject && i%3 != 2:
			t.Fatalf("%d: nobody rejected: %+v", i, o)
		}
		won[o.By]++
		<-d.Closed
	}
	e.WaitOpenDiffs(0)
	t.Logf("load: %d races, answered first: %v", load, won)
	if len(won) < 2 {
		t.Error("no race: one side always won")
	}
}

// both answers on both surfaces at about the same instant.
func both(t *testing.T, r *rig, d *idetest.Diff, i int, random *rand.Rand) {
	t.Helper()
	here, there := moment(random), moment(random)
	if i%3 == 0 {
		d.Edit(fmt.Sprintf("edited %d\n", i))
	}
	start := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		<-start
		<-time.After(there)
		if i%3 == 2 {
			d.Reject()
		} else {
			d.Accept()
		}
	})
	work.Go(func() {
		<-start
		<-time.After(here)
		select {
		case r.terminal.answers <- yes:
		case <-d.Closed:
		}
	})
	close(start)
	work.Wait()
}

// moment returns up to 5 ms, half of the time less than 0.5 ms.
func moment(random *rand.Rand) time.Duration {
	most := 5000
	if random.IntN(2) == 0 {
		most = 500
	}
	return time.Duration(random.IntN(most)) * time.Microsecond
}

// TestActivity: our own extension gets the state and the session of this side, but no
// state that lasts only an instant.
func TestActivity(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *ide.Options) { o.Connect.Session = "first" })
	e := r.editor(idetest.Ours())
	states := func() []string {
		var all []string
		for _, req := range e.Requests("setStatus") {
			var said struct{ State, Text string }
			if err := json.Unmarshal(req.Params, &said); err != nil {
				t.Fatal(err)
			}
			all = append(all, strings.TrimSpace(said.State+" "+said.Text))
		}
		return all
	}
	e.WaitRequests("setStatus", 1)
	r.Activity.Asks()() // a rule answers
	r.Activity.Work(true)
	e.WaitRequests("setStatus", 2)
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	e.WaitRequests("setStatus", 3)
	d.Accept()
	r.answered(got, req)
	e.WaitRequests("setStatus", 4)
	command := r.Activity.Asks() // a request that the editor cannot answer
	e.WaitRequests("setStatus", 5)
	command()
	e.WaitRequests("setStatus", 6)
	r.Activity.Work(false)
	e.WaitRequests("setStatus", 7)
	want := []string{"idle", "working working", "waiting waits for you", "working working", "waiting waits for you", "working working", "idle"}
	if diff := cmp.Diff(want, states()); diff != "" {
		t.Error(diff)
	}
}

// TestAnotherSession: the editor knows which session it is linked to, also after
// another was begun, and over another link.
func TestAnotherSession(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *ide.Options) { o.Connect.Session = "first" })
	e := r.editor(idetest.Ours())
	sessions := func(n int) []string {
		var all []string
		for _, req := range e.WaitRequests("ide_connected", n) {
			var said struct{ SessionID string }
			if err := json.Unmarshal(req.Params, &said); err != nil {
				t.Fatal(err)
			}
			all = append(all, said.SessionID)
		}
		return all
	}
	r.Activity.Use("second")
	if got := sessions(2); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("told %q", got)
	}
	e.Drop()
	if got := sessions(3); got[2] != "second" {
		t.Errorf("the new link was told %q", got)
	}
}
