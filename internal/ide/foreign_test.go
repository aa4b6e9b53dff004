package ide_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// TestTextOfAnotherQuestion: an editor that mixes up its answers writes nothing into
// the wrong file.
func TestTextOfAnotherQuestion(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Neovim", "Emacs", "JetBrains"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			e := r.editor(dialects[name]())
			a := r.proposal("one\ntwo\nthree\n", "one\n2\nthree\n")
			b := r.proposal("eins\nzwei\ndrei\n", "eins\n2\ndrei\n")
			b.File().Path, b.File().Name = filepath.Join(r.dir, "b.txt"), "b.txt"
			got := r.ask(t.Context(), a)
			first := e.NextDiff()
			r.terminal.answers <- yes
			r.answered(got, a)
			got = r.ask(t.Context(), b)
			second := e.NextDiff()
			second.Answer(idetest.Text("FILE_SAVED", first.Text))
			second = e.NextDiff() // asked again
			r.untilNote("it is the text of a.txt")
			second.Answer(idetest.Text("FILE_SAVED", "one\n2\nthree\nand more\n")) // an edit of the other
			<-r.terminal.shown
			<-r.terminal.shown
			asked := <-r.terminal.shown
			notes := asked.Notes[len(asked.Notes)-1].Text
			if asked.File().After != "one\n2\nthree\nand more\n" || !strings.Contains(notes, "looks more like a.txt") {
				t.Errorf("the terminal was asked for %q: %s", asked.File().After, notes)
			}
			r.terminal.answers <- confirm.Verdict{}
			if o, _ := r.answered(got, b); o.Decision != confirm.Reject || o.By != "terminal" {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestEditsInForeignEditors: an edit of the proposal is taken, even if it drops most of
// it; a text that may belong to anything is asked about again.
func TestEditsInForeignEditors(t *testing.T) {
	t.Parallel()
	before := "one\ntwo\nthree\nfour\nfive\n"
	after := "one\n2\nthree\n4\nfive\n"
	for text, sure := range map[string]bool{
		after + "six\n":                   true,
		"one\ntwo\nthree\n4\nfive\n":      true,
		before:                            true,
		"one\n2\nthree\n":                 true,
		"one\nzwei\nthree\nvier\nfive\n":  true,
		"completely\ndifferent\n":         false,
		"x" + strings.ToUpper(after):      false,
		"one\n" + strings.Repeat("y", 99): false,
	} {
		r := newRig(t, nil)
		e := r.editor(idetest.Emacs())
		req := r.proposal(before, after)
		got := r.ask(t.Context(), req)
		<-r.terminal.shown
		d := e.NextDiff()
		d.Edit(text)
		d.Accept()
		if !sure {
			if asked := <-r.terminal.shown; asked.File().After != text {
				t.Errorf("%q: the terminal was asked for %q", text, asked.File().After)
			}
			if d := e.NextDiff(); d.Text != text {
				t.Errorf("%q: the editor shows %q", text, d.Text)
			}
			r.terminal.answers <- yes
		}
		if o, written := r.answered(got, req); written != text || (o.By == "Emacs") != sure {
			t.Errorf("%+v with %q, want %q", o, written, text)
		}
	}
}

// TestAnswerOfAnEarlierLink: Emacs sends the answer for the diff of an earlier client
// to the current one.
func TestAnswerOfAnEarlierLink(t *testing.T) {
	t.Parallel()
	first, second := newRig(t, nil), newRig(t, nil)
	e := first.editor(idetest.Emacs())
	// The current buffer is not a diff: nothing is closed.
	e.Handle("closeAllDiffTabs", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Text("CLOSED_0_DIFF_TABS") })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := first.ask(ctx, first.proposal("old\n", "of the first\n"))
	old := e.NextDiff()
	path := e.WriteLock(second.folder(e.Dialect), second.dir)
	if err := second.Connect(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	req := second.proposal("old\n", "of the second\n")
	got := second.ask(t.Context(), req)
	diff := e.NextDiff()
	old.Accept()
	old.Reject()
	diff.Accept()
	if o, text := second.answered(got, req); text != "of the second\n" {
		t.Errorf("%+v with %q", o, text)
	}
	cancel()
	if o, _ := first.answered(gone, confirm.Request{}); o.err == nil {
		t.Errorf("%+v", o)
	}
}

// TestQuittingEditor: an editor that quits rejects its diffs; that is no answer.
func TestQuittingEditor(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Neovim", "JetBrains", "nexus3", "Emacs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			e := r.editor(dialects[name]())
			req := r.proposal("old\n", "new\n")
			got := r.ask(t.Context(), req)
			e.NextDiff().Reject()
			e.WaitRequests("close_tab", 1) // the rejection has come
			e.Stop()
			r.untilNote("is lost: answer here")
			select {
			case o := <-got:
				t.Fatalf("decided: %+v", o)
			default:
			}
			e.Listen()
			e.WriteLock(r.folder(e.Dialect), r.dir)
			e.NextDiff().Accept() // as soon as it is there again
			if o, text := r.answered(got, req); text != "new\n" {
				t.Errorf("%+v with %q", o, text)
			}
		})
	}
}

// TestQuittingEditorAlone: the same where nobody else is asked, and a closed tab is a
// no.
func TestQuittingEditorAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *ide.Options) { o.Unattended = true })
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	e.NextDiff().Dismiss()
	e.WaitRequests("close_tab", 1) // the rejection has come
	e.Stop()
	e.Listen()
	e.WriteLock(r.folder(e.Dialect), r.dir)
	e.NextDiff().Accept()
	if o, text := r.answered(got, req); text != "new\n" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestOldDiffGoes: after a reconnection there is one diff of a question.
func TestOldDiffGoes(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Emacs())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	first := e.NextDiff()
	e.Drop()
	second := e.NextDiff()
	<-first.Closed
	e.WaitOpenDiffs(1)
	if first.Tab == second.Tab || first.Number() == second.Number() {
		t.Errorf("the same again: %s, %s", second.Tab, second.Number())
	}
	second.Accept()
	if o, text := r.answered(got, req); text != "new\n" || o.By != "Emacs" {
		t.Errorf("%+v with %q", o, text)
	}
	e.WaitOpenDiffs(0)
}

// TestDiffThatOpensLate: an editor that knows of no such diff when it is withdrawn may
// be about to open it.
func TestDiffThatOpensLate(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Emacs())
	asked := 0
	e.Handle("close_tab", func(_ *idetest.Conn, _ rawJSON) idetest.Reply {
		asked++
		if asked == 1 {
			e.Handle("close_tab", nil)
		}
		return idetest.Refusef(-32603, "No buffer named x")
	})
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	r.terminal.answers <- yes
	if o, _ := r.answered(got, req); o.By != "terminal" {
		t.Errorf("%+v", o)
	}
	<-d.Closed
}

// TestLeftSide: text typed into the file itself, beside the proposal, is not ignored.
func TestLeftSide(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Neovim())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	<-r.terminal.shown
	d := e.NextDiff()
	e.World.Open(req.File().Path, idetest.Document{Dirty: true})
	d.Accept()
	asked := <-r.terminal.shown
	if note := asked.Notes[len(asked.Notes)-1].Text; asked.File().After != "new\n" || !strings.Contains(note, "Neovim has unsaved changes to a.txt") {
		t.Errorf("the terminal was asked %+v", asked)
	}
	r.terminal.answers <- yes
	if o, text := r.answered(got, req); text != "new\n" || o.By != "terminal" {
		t.Errorf("%+v with %q", o, text)
	}
}

// lockFile writes a lock of Emacs if there are no links.
func lockFile(target, lock string) error { return os.WriteFile(lock, []byte(target), 0o600) }

// TestEmacsLock: for a plugin that cannot report unsaved changes, Emacs' own lock does.
func TestEmacsLock(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nil)
	e := r.editor(idetest.Emacs())
	path := filepath.Join(r.dir, "a.txt")
	lock := filepath.Join(r.dir, ".#a.txt")
	locks := map[string]func(target, lock string) error{"file": lockFile}
	if runtime.GOOS != "windows" {
		locks["link"] = os.Symlink
	}
	for target, want := range map[string]bool{
		"": false, fmt.Sprintf("me@%s.%d:1700000000", host, os.Getpid()): true, fmt.Sprintf("me@%s.%d", host, os.Getpid()): true,
		fmt.Sprintf("me@%s.%d", host, 1<<22-3): false, "me@elsewhere.example.org.4711:1": true, "README.md": false, "a@b": false, "me@host.-1": false,
	} {
		for kind, write := range locks {
			_ = os.Remove(lock)
			if target != "" {
				if err := write(target, lock); err != nil {
					t.Fatal(err)
				}
			}
			if name, got := r.Unsaved(t.Context(), path); got != want || name != e.Dialect.Name {
				t.Errorf("%q as a %s: %s, %t", target, kind, name, got)
			}
		}
	}
	_ = os.Remove(lock)
	if err := lockFile(fmt.Sprintf("me@%s.%d", host, os.Getpid()), lock); err != nil {
		t.Fatal(err)
	}
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	<-r.terminal.shown
	e.NextDiff().Accept()
	select {
	case asked := <-r.terminal.shown:
		if note := asked.Notes[len(asked.Notes)-1].Text; !strings.Contains(note, "Emacs has unsaved changes") {
			t.Error(note)
		}
	case <-time.After(patience):
		t.Fatal("the terminal was not asked")
	}
	r.terminal.answers <- confirm.Verdict{}
	r.answered(got, req)
}

// TestFilesThatWereWritten: an editor that may hold the text from before a write is not
// asked to save it, and its diagnostics are unknown; an editor that can read it again
// is asked to.
func TestFilesThatWereWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Neovim())
	path := filepath.Join(r.dir, "a.txt")
	known := func() bool {
		t.Helper()
		_, known, err := r.Report(t.Context(), path, 0)
		if err != nil {
			t.Error(err)
		}
		return known
	}
	if known() {
		t.Error("findings on a file that is not open")
	}
	e.World.Open(path, idetest.Document{})
	if !known() {
		t.Error("no findings on a file that is open")
	}
	before, after := "one\ntwo\nthree\n", "one\n2\nthree\nfour\n"
	r.Wrote(t.Context(), editor.Write{Path: path, Before: before, After: after})
	if known() {
		t.Error("findings on the text from before")
	}
	if err := r.Save(t.Context(), path); err == nil || !strings.Contains(err.Error(), "save it there by hand") {
		t.Error(err)
	}
	if n := len(e.Requests("saveDocument")); n != 0 {
		t.Error("the old text was saved")
	}
	e.World.Open(path, idetest.Document{Text: before})
	if known() {
		t.Error("findings on the lines from before")
	}
	e.World.Open(path, idetest.Document{Text: after, Dirty: true})
	if known() {
		t.Error("findings on a text that is not saved")
	}
	e.World.Open(path, idetest.Document{Text: after})
	if !known() {
		t.Error("it has read the file again")
	}
	if err := r.Save(t.Context(), path); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		now  string
		lost bool
	}{
		{after, false}, {after + "five\n", false}, {"zero\n" + after, false}, {before + "typed\n", true}, {before, false}, // told already
	} {
		if got := r.Lost(path, tt.now); (got != "") != tt.lost {
			t.Errorf("%q: %q", tt.now, got)
		}
	}
}

func TestReloadInEmacs(t *testing.T) {
	t.Parallel()
	newer := idetest.Emacs()
	newer.Listed = append(newer.Listed, "reloadBuffer", "checkDocumentDirty")
	r := newRig(t, nil)
	e := r.editor(newer)
	path := filepath.Join(r.dir, "a.txt")
	e.Handle("reloadBuffer", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Text("Buffer reloaded from disk: " + path) })
	e.World.Open(path, idetest.Document{Dirty: true})
	r.Wrote(t.Context(), editor.Write{Path: path, Before: "a\n", After: "b\n"})
	if n := len(e.Requests("reloadBuffer")); n != 0 {
		t.Error("what was not saved is gone")
	}
	e.World.Open(path, idetest.Document{})
	r.Wrote(t.Context(), editor.Write{Path: path, Before: "a\n", After: "b\n"})
	e.WaitRequests("reloadBuffer", 1)
	if _, known, err := r.Report(t.Context(), path, 0); !known || err != nil {
		t.Errorf("known %t, %v", known, err)
	}
}

// TestSaveByHand: where the editor cannot be asked to save, a person does.
func TestSaveByHand(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.editor(idetest.Emacs())
	path := filepath.Join(r.dir, "a.txt")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(r.dir, ".#a.txt")
	if err := lockFile(fmt.Sprintf("me@%s.%d", host, os.Getpid()), lock); err != nil {
		t.Fatal(err)
	}
	if err := r.Save(t.Context(), path); err == nil || err.Error() != "Emacs cannot be asked to: save it there by hand" {
		t.Error(err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := r.Save(t.Context(), path); err != nil {
		t.Error(err)
	}
}

// TestTimeoutsAreSentences: nobody is told of a context.
func TestTimeoutsAreSentences(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	silent := func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Reply{Silent: true} }
	e.Handle("resolveDiff", silent)
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	asked := <-r.terminal.shown
	e.NextDiff()
	err := r.Show(t.Context(), asked.ID)
	if err == nil || !strings.HasSuffix(err.Error(), "Visual Studio Code has not answered within 900ms") {
		t.Error(err)
	}
	r.terminal.answers <- confirm.Verdict{}
	r.answered(got, req)
	e.Handle("saveDocument", silent)
	if err := r.Save(t.Context(), req.File().Path); err == nil || err.Error() != "Visual Studio Code has not answered within 5s" {
		t.Error(err)
	}
}

// TestDoubtAlone: where no terminal asks, the editor does, with the text that it has
// returned.
func TestDoubtAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *ide.Options) { o.Unattended = true })
	e := r.editor(idetest.Emacs())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	d.Edit("of somewhere\nelse\n")
	d.Accept()
	if d = e.NextDiff(); d.Text != "of somewhere\nelse\n" {
		t.Errorf("shown %q", d.Text)
	}
	d.Accept()
	if o, text := r.answered(got, req); text != "of somewhere\nelse\n" || o.By != "Emacs" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestDisconnectClosesDiffs: a link that a person ends leaves no diff behind, and the
// question stays open.
func TestDisconnectClosesDiffs(t *testing.T) {
	t.Parallel()
	for name, dialect := range dialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			e := r.editor(dialect())
			req := r.proposal("old\n", "new\n")
			got := r.ask(t.Context(), req)
			d := e.NextDiff()
			if err := r.Disconnect(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-d.Closed
			if n := e.OpenDiffs(); n != 0 {
				t.Errorf("%d diffs are left", n)
			}
			r.terminal.answers <- yes
			if o, text := r.answered(got, req); text != "new\n" || o.By != "terminal" {
				t.Errorf("%+v with %q", o, text)
			}
		})
	}
}

// TestYesTakesTheTextInNeovim: a yes in the terminal takes the text typed in Neovim.
func TestYesTakesTheTextInNeovim(t *testing.T) {
	t.Parallel()
	before, after := "one\ntwo\nthree\n", "one\n2\nthree\n"
	for text, want := range map[string]string{after: after, after + "four\n": after + "four\n"} {
		r := newRig(t, nil)
		e := r.editor(idetest.Neovim())
		req := r.proposal(before, after)
		got := r.ask(t.Context(), req)
		d := e.NextDiff()
		r.untilNote("y takes what you type there")
		d.Edit(text)
		r.terminal.answers <- yes
		if o, written := r.answered(got, req); written != want || o.By != "terminal" {
			t.Errorf("%+v with %q, want %q", o, written, want)
		}
		e.WaitOpenDiffs(0)
	}
}

// TestYesIsAskedAgainForADoubtfulText: a yes in the terminal does not take a text that
// is no edit of the proposal and that the terminal does not show.
func TestYesIsAskedAgainForADoubtfulText(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Neovim())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	e.NextDiff().Edit("something else altogether\n")
	<-r.terminal.shown
	r.terminal.answers <- yes
	if asked := <-r.terminal.shown; len(asked.Notes) == 0 || asked.File().After == "new\n" && !strings.Contains(asked.Notes[len(asked.Notes)-1].Text, "Say yes again") {
		t.Errorf("asked again %+v", asked)
	}
	r.terminal.answers <- confirm.Verdict{}
	r.answered(got, req)
}
