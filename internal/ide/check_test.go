package ide_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TestEditorShowsTheCheck: our editor learns of a running check, and then its result;
// another does not.
func TestEditorShowsTheCheck(t *testing.T) {
	t.Parallel()
	for name, dialect := range map[string]idetest.Dialect{"ours": idetest.Ours(), "foreign": idetest.Neovim()} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			e := r.editor(dialect)
			req := r.proposal("old\n", "new\n")
			finish := make(chan struct{})
			req.Check = confirm.NewCheck("go vet .", false, func(context.Context) confirm.CheckResult {
				<-finish
				return confirm.CheckResult{Title: "go vet .", Took: time.Second, Output: "a.txt:1:2: no", Problems: []confirm.Problem{
					{Path: req.File().Path, Line: 1, Column: 2, Text: "no"}, {Path: "/elsewhere", Line: 3, Text: "nor this"},
				}}
			})
			got := r.ask(t.Context(), req)
			d := e.NextDiff()
			if dialect.Ours {
				e.WaitRequests("setCheck", 1)
			}
			close(finish)
			<-req.Check.Done()
			if dialect.Ours {
				var checks []client.Check
				for _, request := range e.WaitRequests("setCheck", 2) {
					var c client.Check
					if err := json.Unmarshal(request.Params, &c); err != nil {
						t.Fatal(err)
					}
					checks = append(checks, c)
				}
				want := []client.Check{
					{State: client.CheckRunning, Text: "go vet . …"},
					{State: client.CheckFailed, Text: "go vet . ✗ 2 new errors · 1.0 s", Output: "a.txt:1:2: no", Problems: []client.CheckProblem{{Line: 1, Column: 2, Text: "no"}}},
				}
				if diff := cmp.Diff(want, checks); diff != "" {
					t.Error(diff)
				}
			}
			d.Accept()
			r.answered(got, req)
			if n := len(e.Requests("setCheck")); n != 0 && !dialect.Ours {
				t.Errorf("%d calls that the editor does not know", n)
			}
		})
	}
}

// TestEditorShowsTheCheckOfATurn: the check of several files is shown with each, which has
// only its own problems.
func TestEditorShowsTheCheckOfATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	first, second := r.proposal("old\n", "new\n"), r.proposal("old\n", "newer\n")
	second.File().Path, second.File().Name = second.File().Path+".b", "b"
	finish := make(chan struct{})
	check := confirm.NewCheck("go vet .", false, func(context.Context) confirm.CheckResult {
		<-finish
		return confirm.CheckResult{Title: "go vet .", Problems: []confirm.Problem{{Path: first.File().Path, Line: 1, Text: "one"}, {Path: second.File().Path, Line: 2, Text: "two"}}}
	})
	plan := &confirm.Edits{Title: "all", Review: true, Changes: []workspace.Change{*first.File(), *second.File()}}
	got := r.ask(t.Context(), confirm.Request{Tool: "review", Subject: plan, Check: check})
	diffs := []*idetest.Diff{e.NextDiff(), e.NextDiff()}
	e.WaitRequests("setCheck", 2)
	close(finish)
	found := map[string]bool{}
	for _, request := range e.WaitRequests("setCheck", 4) {
		var c client.Check
		if err := json.Unmarshal(request.Params, &c); err != nil {
			t.Fatal(err)
		}
		if c.State == client.CheckFailed && len(c.Problems) == 1 && c.Text == "go vet . ✗ 2 new errors · 0.0 s" {
			found[c.Problems[0].Text] = true
		}
	}
	if !found["one"] || !found["two"] {
		t.Errorf("the results are of %v", found)
	}
	for _, d := range diffs {
		d.Reject()
	}
	if o := <-got; o.err != nil || o.Decision != confirm.Reject {
		t.Errorf("%+v", o)
	}
}

// TestEditorGetsTheRefusedProposal: our editor gets the proposal that the person refused
// before, with their words.
func TestEditorGetsTheRefusedProposal(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	first := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), first)
	e.NextDiff().Reject()
	if _, text := r.answered(got, first); text != "" {
		t.Fatalf("written: %q", text)
	}
	second := r.proposal("old\n", "newer\n")
	second.Refused = &confirm.Refused{Text: "new\n", Feedback: "no", Comments: []confirm.Comment{{Line: 1, Text: "here"}}}
	got = r.ask(t.Context(), second)
	d := e.NextDiff()
	var args struct{ Refused json.RawMessage }
	const want = `{"text":"new\n","feedback":"no","comments":[{"line":1,"text":"here"}]}`
	if err := json.Unmarshal(d.Args, &args); err != nil || string(args.Refused) != want {
		t.Errorf("refused %s, %v", args.Refused, err)
	}
	d.Accept()
	r.answered(got, second)
}

// TestEditorNeedNotAskAboutAChangedFile: our editor knows of the comparison before the write.
func TestEditorNeedNotAskAboutAChangedFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	var args struct{ Rechecks bool }
	if err := json.Unmarshal(d.Args, &args); err != nil || !args.Rechecks {
		t.Errorf("rechecks %t, %v", args.Rechecks, err)
	}
	d.Reject()
	r.answered(got, req)
}
