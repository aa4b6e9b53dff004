package ide_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// files is a question about the files a.txt, b.txt and c.txt that a model changes.
func (r *rig) files() confirm.Request {
	req := confirm.Request{Tool: "review", Subject: &confirm.Edits{Title: "all", Review: true}}
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		confirm.As[*confirm.Edits](req).Changes = append(confirm.As[*confirm.Edits](req).Changes, workspace.Change{
			File: workspace.File{Path: filepath.Join(r.dir, name), Name: name, Exists: true, Text: "old\n"}, After: "new\n",
		})
	}
	return req
}

// nextDiffs returns the next n diffs by the names of their files.
func nextDiffs(e *idetest.Editor, n int) map[string]*idetest.Diff {
	out := map[string]*idetest.Diff{}
	for range n {
		d := e.NextDiff()
		out[filepath.Base(d.Path)] = d
	}
	return out
}

// TestPartsHereAndAnswersInTheEditor: parts left out in the terminal neither write a file that
// was rejected in the editor, nor drop a text that was typed there.
func TestPartsHereAndAnswersInTheEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.files()
	got := r.ask(t.Context(), req)
	diffs := nextDiffs(e, 3)
	diffs["b.txt"].Reject()
	diffs["c.txt"].Edit("typed\n")
	diffs["c.txt"].Accept()
	r.untilNote("2 of 3 files answered")
	<-r.terminal.shown
	r.terminal.answers <- confirm.Verdict{Decision: confirm.Approve, Texts: map[int]string{1: "part\n", 2: "part\n"}}
	again := <-r.terminal.shown
	if c := confirm.As[*confirm.Edits](again).Changes[2]; c.After != "typed\n" || len(confirm.As[*confirm.Edits](again).Out) != 1 || confirm.As[*confirm.Edits](again).Out[0] != 1 {
		t.Errorf("asked again about %+v", confirm.As[*confirm.Edits](again))
	}
	r.terminal.answers <- confirm.Verdict{Decision: confirm.Approve, Except: confirm.As[*confirm.Edits](again).Out}
	if o := <-got; len(o.Except) != 1 || o.Except[0] != 1 || len(o.Texts) != 1 || o.Texts[2] != "typed\n" {
		t.Errorf("%+v", o)
	}
}

// TestWordsInTheEditorReachTheModel: if the terminal approves the remaining files.
func TestWordsInTheEditorReachTheModel(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	got := r.ask(t.Context(), r.files())
	diffs := nextDiffs(e, 3)
	comment := func(text string) []any {
		return []any{map[string]any{"side": "modified", "startLine": 1, "endLine": 1, "text": text}}
	}
	diffs["b.txt"].RejectWith(map[string]any{"feedback": "never touch b", "comments": comment("wrong")})
	diffs["c.txt"].AcceptWith(map[string]any{"comments": comment("rename later")})
	r.untilNote("2 of 3 files answered")
	<-r.terminal.shown
	r.terminal.answers <- yes
	o := <-got
	want := []confirm.Comment{{File: 1, Line: 1, Text: "wrong"}, {File: 2, Line: 1, Text: "rename later"}}
	if diff := cmp.Diff(want, o.Comments); diff != "" || o.Feedback != "never touch b" || len(o.Except) != 1 {
		t.Errorf("%+v: %s", o, diff)
	}
}
