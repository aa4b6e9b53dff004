package confirm_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// reviewerFunc is a Reviewer.
type reviewerFunc func(confirm.Request) confirm.Verdict

func (f reviewerFunc) Review(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
	return f(req), nil
}

// TestRefusedProposals asks about proposals for two files in turn.
func TestRefusedProposals(t *testing.T) {
	var seen confirm.Request
	var answer confirm.Verdict
	c := confirm.NewController(nil, reviewerFunc(func(req confirm.Request) confirm.Verdict { seen = req; return answer }))
	words := confirm.Verdict{Feedback: "shorter", Comments: []confirm.Comment{{Line: 1, Text: "here"}}}
	for i, s := range []struct {
		path, after string
		answer      confirm.Verdict
		want        *confirm.Refused
		note        string
	}{
		{"/a", "one\n", words, nil, ""},
		{"/b", "one\n", words, nil, ""},
		{"/a", "two\n", words, &confirm.Refused{Text: "one\n", Feedback: "shorter", Comments: words.Comments}, "revised since you refused it: +1 −1"},
		{"/a", "two\n", confirm.Verdict{Decision: confirm.Approve}, &confirm.Refused{Text: "two\n", Feedback: "shorter", Comments: words.Comments}, "revised, but with the text that you refused"},
		{"/a", "three\n", confirm.Verdict{}, nil, ""},
		{"/a", "four\n", confirm.Verdict{}, nil, ""},
		{"/b", "two\n", confirm.Verdict{}, &confirm.Refused{Text: "one\n", Feedback: "shorter", Comments: words.Comments}, "revised since you refused it: +1 −1"},
	} {
		answer = s.answer
		change := &workspace.Change{File: workspace.File{Path: s.path, Name: s.path}, After: s.after}
		if _, err := c.Ask(t.Context(), confirm.Request{Tool: "edit_file", Subject: confirm.Edit(*change)}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s.want, seen.Refused); d != "" {
			t.Errorf("question %d: %s", i, d)
		}
		note := ""
		for _, n := range seen.Notes {
			if n.Kind == caution.Revised {
				note = n.Text
			}
		}
		if note != s.note {
			t.Errorf("question %d: note %q, want %q", i, note, s.note)
		}
	}
}
