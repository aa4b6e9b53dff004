package confirm_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TestUnsureApproval: a text that may belong to another question is shown to everybody as
// the proposal, and only an answer to that counts.
func TestUnsureApproval(t *testing.T) {
	for name, tt := range map[string]struct {
		answer confirm.Verdict
		want   string // "" if nothing is approved
	}{
		"yes":      {yes, "other\n"},
		"own text": {confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text("mine\n")}, "mine\n"},
		"no":       {no, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				terminal, editor := newPerson("terminal"), newPerson("editor")
				var requests []confirm.Request
				seen := reviewFunc(func(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
					requests = append(requests, req)
					return terminal.Review(ctx, req)
				})
				c := confirm.NewController(nil, seen, editor)
				req := edit("1")
				req.Subject = confirm.Edit(workspace.Change{File: workspace.File{Exists: true, Text: "old\n"}, After: "proposed\n"})
				got := ask(t.Context(), c, req)
				synctest.Wait()
				other := "other\n"
				editor.answers <- confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(other), Unsure: "It may belong elsewhere."}
				synctest.Wait()
				if len(requests) != 2 || requests[1].File().After != other || terminal.surface() != "1" || editor.surface() != "1" {
					t.Fatalf("asked %+v", requests)
				}
				notes := requests[1].Notes
				if len(notes) == 0 || notes[len(notes)-1].Text != "It may belong elsewhere." {
					t.Errorf("notes %v", notes)
				}
				terminal.answers <- tt.answer
				o := <-got
				text := ""
				if o.verdict.Edited() != nil {
					text = *o.verdict.Edited()
				}
				if o.err != nil || text != tt.want || o.verdict.Decision != tt.answer.Decision || o.verdict.Unsure != "" {
					t.Errorf("Ask = %+v with %q", o, text)
				}
				if terminal.surface() != "" || editor.surface() != "" || req.File().After != "proposed\n" {
					t.Error("the question is left on a surface, or the caller's change is another one")
				}
			})
		})
	}
}

// TestUnsureOfNothing: without a text there is nothing to show.
func TestUnsureOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal, editor := newPerson("terminal"), newPerson("editor")
		got := ask(t.Context(), confirm.NewController(nil, terminal, editor), edit("1"))
		synctest.Wait()
		editor.answers <- confirm.Verdict{Decision: confirm.Approve, Unsure: "why"}
		synctest.Wait()
		terminal.answers <- no
		if o := <-got; o.verdict.By != "terminal" {
			t.Errorf("Ask = %+v", o)
		}
	})
}
