package ide_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

var dialects = map[string]func() idetest.Dialect{
	"ours": idetest.Ours, "Neovim": idetest.Neovim, "Emacs": idetest.Emacs, "JetBrains": idetest.JetBrains, "nexus3": idetest.Nexus3,
}

// TestEditorsAnswer: a person's decision in any editor is the verdict, with the exact
// text, and the diff is gone by then.
func TestEditorsAnswer(t *testing.T) {
	t.Parallel()
	for name, dialect := range dialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			e := r.editor(dialect())
			for i, after := range []string{"new\n", "no newline", "", "crlf\r\nmixed\n"} {
				req := r.proposal("old\n", after)
				got := r.ask(t.Context(), req)
				d := e.NextDiff()
				if d.Path != req.File().Path || d.Text != after {
					t.Fatalf("%d: shown %s %q", i, d.Path, d.Text)
				}
				d.Accept()
				o, text := r.answered(got, req)
				if o.err != nil || o.Decision != confirm.Approve || text != after || o.By != e.Dialect.Name || o.Session {
					t.Errorf("%d: %+v with %q", i, o, text)
				}
				req = r.proposal("old\n", after)
				got = r.ask(t.Context(), req)
				e.NextDiff().Reject()
				if o, _ := r.answered(got, req); o.err != nil || o.Decision != confirm.Reject || o.Unasked || o.By != e.Dialect.Name {
					t.Errorf("%d: %+v", i, o)
				}
			}
			e.WaitOpenDiffs(0)
		})
	}
}

// TestTerminalAnswersFirst: the diff goes away within the second.
func TestTerminalAnswersFirst(t *testing.T) {
	t.Parallel()
	for name, dialect := range dialects {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			e := r.editor(dialect())
			req := r.proposal("old\n", "new\n")
			got := r.ask(t.Context(), req)
			d := e.NextDiff()
			r.terminal.answers <- yes
			if o, text := r.answered(got, req); o.By != "terminal" || text != "new\n" {
				t.Errorf("%+v with %q", o, text)
			}
			select {
			case <-d.Closed:
			case <-time.After(10 * time.Second): // a second, and slack for a busy machine
				t.Error("the diff is still there")
			}
			e.WaitOpenDiffs(0)
		})
	}
}

func TestEditsAndWordsOfTheEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	if d.OnClose != "keep" || d.Description != "I greet." {
		t.Errorf("asked with on_close %q, description %q", d.OnClose, d.Description)
	}
	d.Edit("newer\n")
	d.AcceptWith(map[string]any{"feedback": "mind the case", "comments": []any{
		map[string]any{"side": "modified", "startLine": 1, "endLine": 1, "text": "shorter"},
		map[string]any{"side": "original", "startLine": 2, "endLine": 3, "text": "why?"},
	}})
	o, text := r.answered(got, req)
	want := []confirm.Comment{{Line: 1, Text: "shorter"}, {Line: 2, Text: "(lines 2–3) (on the text before the change) why?"}}
	if text != "newer\n" || o.Feedback != "mind the case" {
		t.Errorf("%+v with %q", o, text)
	}
	if diff := cmp.Diff(want, o.Comments); diff != "" {
		t.Error(diff)
	}
}

// TestApprovalTakesTheDraft: typed in the editor, then yes in the terminal.
func TestApprovalTakesTheDraft(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	d.Edit("typed\n")
	r.untilNote("edited in Visual Studio Code +1 −1")
	r.terminal.answers <- yes
	if o, text := r.answered(got, req); o.By != "terminal" || text != "typed\n" {
		t.Errorf("%+v with %q", o, text)
	}
	e.WaitOpenDiffs(0)
}

// TestLostDraftIsNotPassedOver: the edited text cannot be had, so yes is not taken
// for the unedited one before the person was told.
func TestLostDraftIsNotPassedOver(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(e *idetest.Editor){
		"crash": func(e *idetest.Editor) { e.Stop() },
		"refused": func(e *idetest.Editor) {
			e.Handle("resolveDiff", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Refuse("INTERNAL", "no") })
		},
		"silent": func(e *idetest.Editor) {
			e.Handle("resolveDiff", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Reply{Silent: true} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			e := r.editor(idetest.Ours())
			req := r.proposal("old\n", "new\n")
			got := r.ask(t.Context(), req)
			e.NextDiff().Edit("typed\n")
			r.untilNote("edited in")
			lose(e)
			if name == "crash" {
				r.untilNote("is lost; your edit there (+1 −1) is kept in the editor")
			}
			<-r.terminal.shown
			r.terminal.answers <- yes
			again := <-r.terminal.shown
			if len(again.Notes) != 1 || !strings.Contains(again.Notes[0].Text, "Edited in another window") {
				t.Errorf("asked again with %q", again.Notes)
			}
			r.terminal.answers <- yes
			if o, text := r.answered(got, req); o.By != "terminal" || text != "new\n" {
				t.Errorf("%+v with %q", o, text)
			}
		})
	}
}

// TestEditorThatDoesNotSay: if our editor shows the proposal and does not report
// whether it was edited, the first yes does not count for the proposed text.
func TestEditorThatDoesNotSay(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	e.Handle("resolveDiff", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Reply{Silent: true} })
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	e.NextDiff()
	<-r.terminal.shown
	r.terminal.answers <- yes
	again := <-r.terminal.shown
	if len(again.Notes) != 1 || !strings.Contains(again.Notes[0].Text, "if it was edited there") {
		t.Errorf("asked again with %q", again.Notes)
	}
	r.terminal.answers <- yes
	if o, text := r.answered(got, req); o.By != "terminal" || text != "new\n" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestDiffThatIsNotThere: an editor that has no such diff holds no draft of it.
func TestDiffThatIsNotThere(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	e.Handle("resolveDiff", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Refuse("DIFF_NOT_FOUND", "none") })
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	e.NextDiff()
	r.terminal.answers <- yes
	if o, text := r.answered(got, req); o.By != "terminal" || text != "new\n" {
		t.Errorf("%+v with %q", o, text)
	}
	if asked := len(r.terminal.shown); asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// TestQuestionSurvivesTheEditor: the editor restarts with another port and token during
// a question. The question is shown again under the same id and answered there.
func TestQuestionSurvivesTheEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	first := e.NextDiff()
	port, token := e.Port(), e.Token()
	e.Stop()
	r.untilNote("answer here")
	e.Listen()
	e.WriteLock(r.locks, r.dir)
	second := e.NextDiff()
	if e.Port() == port || e.Token() == token {
		t.Fatal("the editor did not move")
	}
	if first.ID == "" || first.ID != second.ID || first.Tab != second.Tab {
		t.Errorf("shown as %q %q, then as %q %q", first.ID, first.Tab, second.ID, second.Tab)
	}
	second.Accept()
	if o, text := r.answered(got, req); o.By != e.Dialect.Name || text != "new\n" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestClosedTabs: closing a tab is never an acceptance. If it is no rejection either,
// the terminal's question stays open.
func TestClosedTabs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"ours": "", "Neovim": "Neovim", "Emacs": "", "JetBrains": "", "nexus3": "VS Code"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			e := r.editor(dialects[name]())
			req := r.proposal("old\n", "new\n")
			got := r.ask(t.Context(), req)
			e.NextDiff().Dismiss()
			if want == "" {
				if name == "JetBrains" {
					r.untilNote("closed in IntelliJ IDEA without an answer")
				}
				r.terminal.answers <- yes
				if o, _ := r.answered(got, req); o.By != "terminal" || o.Decision != confirm.Approve {
					t.Errorf("%+v", o)
				}
				return
			}
			if o, _ := r.answered(got, req); o.By != want || o.Decision != confirm.Reject {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestRefusedDiffs: if an editor cannot show a diff, a note explains it and the
// terminal's question stays open.
func TestRefusedDiffs(t *testing.T) {
	t.Parallel()
	refuse := func(r idetest.Reply) func(*rig, *idetest.Editor) {
		return func(_ *rig, e *idetest.Editor) {
			e.Handle("openDiff", func(*idetest.Conn, rawJSON) idetest.Reply { return r })
		}
	}
	for name, tt := range map[string]struct {
		dialect func() idetest.Dialect
		size    int
		set     func(*rig, *idetest.Editor)
		note    string
	}{
		"dirty": {idetest.Ours, 1, func(r *rig, e *idetest.Editor) {
			e.World.Open(r.proposal("", "").File().Path, idetest.Document{Dirty: true})
		}, "unsaved changes in Visual Studio Code"},
		"busy":       {idetest.Ours, 1, refuse(idetest.Refuse("BUSY", "another review")), "under another review"},
		"stale":      {idetest.Ours, 1, refuse(idetest.Refuse("STALE_BASE", "another text")), "differs in Visual Studio Code"},
		"large":      {idetest.Emacs, 300 << 10, nil, "too large for Emacs"},
		"error":      {idetest.Neovim, 1, refuse(idetest.Refusef(-32603, "no window\x1b[2J")), "does not show the diff"},
		"no tool":    {idetest.Neovim, 1, refuse(idetest.Refusef(-32601, "Tool not found: openDiff")), "Neovim shows no diffs"},
		"nonsense":   {idetest.Neovim, 1, refuse(idetest.Text("MAYBE")), "without an answer"},
		"timeout":    {idetest.Ours, 1, refuse(idetest.Text("FILE_SAVED", "x", `{"v":1,"reason":"timeout"}`)), "without an answer"},
		"superseded": {idetest.Ours, 1, refuse(idetest.Text("DIFF_REJECTED", "x", `{"v":1,"reason":"superseded"}`)), "without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			e := r.editor(tt.dialect())
			if tt.set != nil {
				tt.set(r, e)
			}
			req := r.proposal("old\n", strings.Repeat("n", tt.size))
			got := r.ask(t.Context(), req)
			r.untilNote(tt.note)
			r.terminal.answers <- yes
			if o, _ := r.answered(got, req); o.By != "terminal" {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestDeafEditorDelaysNothing: neither Esc nor the end of the program asks anything of an
// editor that does not answer while it shows a diff, so neither waits for it.
func TestDeafEditorDelaysNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	e.Handle("ping", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Reply{Silent: true} })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := r.ask(ctx, r.proposal("old\n", "new\n"))
	r.untilNote("does not answer")
	before := len(e.Requests(""))
	cancel()
	if o, _ := r.answered(got, confirm.Request{}); !errors.Is(o.err, context.Canceled) {
		t.Errorf("%+v", o)
	}
	r.end()
	e.WaitConns(0) // all was received
	for _, request := range e.Requests("")[before:] {
		if request.ID != nil && request.Method != "ping" {
			t.Errorf("the editor was asked %s", request.Method)
		}
	}
}

// TestClaim: while the proposal is edited in the terminal the editor does not show it;
// then it shows the result.
func TestClaim(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	req.ID = "q"
	got := r.ask(t.Context(), req)
	first := e.NextDiff()
	first.Edit("typed\n")
	r.untilNote("edited in")
	if text, edited := r.Claim(t.Context(), "q"); text != "typed\n" || !edited {
		t.Errorf("claimed %q, %v", text, edited)
	}
	e.WaitOpenDiffs(0)
	r.Release(t.Context(), "q", "mine\n")
	second := e.NextDiff()
	if second.Text != "mine\n" || second.ID == first.ID {
		t.Errorf("shown %q as %s", second.Text, second.ID)
	}
	second.Accept()
	if o, text := r.answered(got, req); o.By != e.Dialect.Name || text != "mine\n" {
		t.Errorf("%+v with %q", o, text)
	}
	if text, edited := r.Claim(t.Context(), "q"); text != "" || edited {
		t.Error("a question that is over was claimed")
	}
}

// TestClaimOfALostDraft: if the text typed in the editor cannot be fetched, a note
// tells the person who edits the proposal in the terminal.
func TestClaimOfALostDraft(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	req.ID = "q"
	got := r.ask(t.Context(), req)
	e.NextDiff().Edit("typed\n")
	r.untilNote("edited in")
	e.Handle("resolveDiff", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Refuse("INTERNAL", "no") })
	if text, edited := r.Claim(t.Context(), "q"); text != "" || edited {
		t.Errorf("claimed %q, %v", text, edited)
	}
	r.until("the note", func() bool {
		return slices.ContainsFunc(r.notes, func(n string) bool { return strings.Contains(n, "could not be fetched") })
	})
	r.Release(t.Context(), "q", "mine\n")
	e.NextDiff().Accept()
	if o, text := r.answered(got, req); o.By != e.Dialect.Name || text != "mine\n" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestClaimWithoutADraft: the diff stays, as being edited elsewhere; given back as
// it was, it goes on, and else it is shown anew.
func TestClaimWithoutADraft(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	req.ID = "q"
	got := r.ask(t.Context(), req)
	first := e.NextDiff()
	for range 2 {
		if text, edited := r.Claim(t.Context(), "q"); text != "" || edited {
			t.Errorf("claimed %q, %v", text, edited)
		}
		e.WaitOpenDiffs(1)
		r.Release(t.Context(), "q", "new\n")
	}
	e.WaitRequests("resolveDiff", 4) // held and released, twice
	r.Claim(t.Context(), "q")
	r.Release(t.Context(), "q", "mine\n")
	<-first.Closed
	second := e.NextDiff()
	if second.Text != "mine\n" {
		t.Errorf("shown %q", second.Text)
	}
	second.Accept()
	if o, text := r.answered(got, req); o.By != e.Dialect.Name || text != "mine\n" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestShow: the person has the diff brought to the editor's screen.
func TestShow(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	if err := r.Show(t.Context(), "q"); err == nil || r.Shows() != "" {
		t.Errorf("without an editor: %v, %q", err, r.Shows())
	}
	e := r.editor(idetest.Ours())
	if got := r.Shows(); got != e.Dialect.Name {
		t.Errorf("shown in %q", got)
	}
	if err := r.Show(t.Context(), "q"); err == nil {
		t.Error("shows a question that there is not")
	}
	req := r.proposal("old\n", "new\n")
	req.ID = "q"
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	d.Hide()
	r.untilNote("waits in " + e.Dialect.Name + ": o opens it there")
	for n := range 2 {
		if err := r.Show(t.Context(), "q"); err != nil {
			t.Error(err)
		}
		d.WaitShown(n + 1)
	}
	r.Claim(t.Context(), "q")
	r.Release(t.Context(), "q", "mine\n")
	second := e.NextDiff()
	if err := r.Show(t.Context(), "q"); err != nil { // it has another id in the editor now
		t.Error(err)
	}
	second.WaitShown(1)
	second.Accept()
	r.answered(got, req)
}

// TestShowInAForeignEditor: other plugins know no such request.
func TestShowInAForeignEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Neovim())
	req := r.proposal("old\n", "new\n")
	req.ID = "q"
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	if err := r.Show(t.Context(), "q"); err == nil || r.Shows() != "" {
		t.Errorf("%v, %q", err, r.Shows())
	}
	d.Accept()
	r.answered(got, req)
}

// TestSlowWithdrawal: an editor that does not confirm delays the verdict by less than a
// second, and its diff is closed at the next chance.
func TestSlowWithdrawal(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Neovim())
	slow := func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Reply{Silent: true} }
	e.Handle("close_tab", slow)
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	first := e.NextDiff()
	r.terminal.answers <- yes
	if o, _ := r.answered(got, req); o.By != "terminal" {
		t.Errorf("%+v", o)
	}
	first.Accept() // void: nobody waits for it
	e.Handle("close_tab", nil)
	got = r.ask(t.Context(), req)
	second := e.NextDiff()
	closes := e.WaitRequests("close_tab", 2)
	if len(closes) < 2 || !strings.Contains(string(closes[1].Params), first.Tab) {
		t.Errorf("the first diff was not closed again: %+v", closes)
	}
	second.Reject()
	if o, _ := r.answered(got, req); o.Decision != confirm.Reject || o.By != "Neovim" {
		t.Errorf("%+v", o)
	}
}

// TestClosingWindow: a window that closes gives up its diff some time before the link
// ends. The next window shows it.
func TestClosingWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	e.NextDiff().Answer(idetest.Reply{Error: &idetest.Error{Code: -32001, Message: "gave up", Data: map[string]any{"code": "ABORTED"}}})
	r.Unsaved(t.Context(), req.File().Path) // whose answer follows that of the diff
	e.Stop()
	r.editor(idetest.Ours()).NextDiff().Accept()
	if o, text := r.answered(got, req); o.Decision != confirm.Approve || text != "new\n" {
		t.Errorf("%+v with %q", o, text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if all := strings.Join(r.notes, "\n"); strings.Contains(all, "does not show") {
		t.Error(all)
	}
}

// TestNothingIsLeft: a diff whose closing was not confirmed in time goes when the
// link ends, also in an editor that is not ours.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]string{"ours": "closeAllDiffTabs", "Neovim": "close_tab"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			e := r.editor(dialects[name]())
			e.Handle("close_tab", func(*idetest.Conn, rawJSON) idetest.Reply { return idetest.Reply{Silent: true} })
			ctx, cancel := context.WithCancel(t.Context())
			got := r.ask(ctx, r.proposal("old\n", "new\n"))
			d := e.NextDiff()
			cancel()
			if o, _ := r.answered(got, confirm.Request{}); !errors.Is(o.err, context.Canceled) {
				t.Errorf("%+v", o)
			}
			e.WaitRequests("close_tab", 1)
			e.Handle("close_tab", nil)
			if err := r.Disconnect(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-d.Closed
			if name == "ours" {
				e.WaitRequests(call, 1)
				return
			}
			if asked := e.WaitRequests(call, 2); !strings.Contains(string(asked[1].Params), d.Tab) {
				t.Errorf("closed %s", asked[1].Params)
			}
		})
	}
}

// TestCancelledTurn: the diff goes away with the turn.
func TestCancelledTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	ctx, cancel := context.WithCancel(t.Context())
	got := r.ask(ctx, r.proposal("old\n", "new\n"))
	d := e.NextDiff()
	cancel()
	if o, _ := r.answered(got, confirm.Request{}); !errors.Is(o.err, context.Canceled) {
		t.Errorf("%+v", o)
	}
	<-d.Closed
}

// TestNotTheEditorsToAnswer: requests without a change that can be shown, and all requests if
// diffs are off, are left to the terminal.
func TestNotTheEditorsToAnswer(t *testing.T) {
	t.Parallel()
	b := ide.New(ide.Options{Diffs: true}).Reviewer
	off := ide.New(ide.Options{}).Reviewer
	change := &workspace.Change{After: "x"}
	for name, tt := range map[string]struct {
		b   *ide.Reviewer
		req confirm.Request
	}{
		"command": {b, confirm.Request{Subject: &confirm.Command{Line: "ls"}}},
		"read":    {b, confirm.Request{Subject: &confirm.Read{Path: "/etc/hosts"}}},
		"binary":  {b, confirm.Request{Subject: confirm.Edit(workspace.Change{RawAfter: []byte{0}})}},
		"off":     {off, confirm.Request{Subject: confirm.Edit(*change)}},
	} {
		if _, err := tt.b.Review(t.Context(), tt.req); !errors.Is(err, confirm.ErrUndecided) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAlone: only the editor is asked; closing the tab by hand is a no.
func TestAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *ide.Options) { o.Unattended = true })
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	e.NextDiff().Accept()
	if o, text := r.answered(got, req); text != "new\n" {
		t.Errorf("%+v with %q", o, text)
	}
	got = r.ask(t.Context(), req)
	d := e.NextDiff()
	if d.OnClose != "reject" {
		t.Errorf("on_close %q", d.OnClose)
	}
	d.Dismiss()
	if o, _ := r.answered(got, req); o.Unasked || o.Decision != confirm.Reject {
		t.Errorf("%+v", o)
	}
	if o := <-r.ask(t.Context(), confirm.Request{Subject: &confirm.Command{Line: "ls"}}); !o.Unasked {
		t.Errorf("a command: %+v", o)
	}
}

// TestInline: a proposal is shown in the document itself if the configuration asks for
// that and the editor can do it.
func TestInline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inline  bool
		dialect idetest.Dialect
		want    string
	}{
		"wanted":       {true, idetest.Ours(), "inline"},
		"not wanted":   {false, idetest.Ours(), ""},
		"other editor": {true, idetest.Neovim(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *ide.Options) { o.Inline = c.inline })
			e := r.editor(c.dialect)
			req := r.proposal("old\n", "new\n")
			got := r.ask(t.Context(), req)
			e.NextDiff().Accept()
			r.answered(got, req)
			var asked struct{ View string }
			if err := json.Unmarshal(e.Requests("openDiff")[0].Params, &asked); err != nil || asked.View != c.want {
				t.Errorf("asked for %q, %v", asked.View, err)
			}
		})
	}
}

// TestEditorIsSentTheNotes: our editor gets the terminal's warnings; others do not.
func TestEditorIsSentTheNotes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		dialect idetest.Dialect
		want    string
	}{
		"ours":    {idetest.Ours(), `[{"kind":"protected","text":"a.txt is protected."}]`},
		"foreign": {idetest.Neovim(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			e := r.editor(tt.dialect)
			req := r.proposal("old\n", "new\n")
			req.Notes = []caution.Note{{Kind: caution.Protected, Text: "a.txt is protected."}}
			got := r.ask(t.Context(), req)
			var args struct{ Notes json.RawMessage }
			d := e.NextDiff()
			if err := json.Unmarshal(d.Args, &args); err != nil || string(args.Notes) != tt.want {
				t.Errorf("notes %s, %v", args.Notes, err)
			}
			d.Reject()
			r.answered(got, req)
		})
	}
}
