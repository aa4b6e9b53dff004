package toolcall

import (
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

func TestWords(t *testing.T) {
	comments := []confirm.Comment{{Line: 2, Text: "why"}, {File: 1, Line: 3, Text: "no"}}
	for name, tt := range map[string]struct {
		v     confirm.Verdict
		files []string
		words string
	}{
		"a bare yes": {v: confirm.Verdict{Decision: confirm.Approve}},
		"a reason":   {v: confirm.Verdict{Feedback: "too\nrisky"}, words: "The user says: too\nrisky"},
		"a rule":     {v: confirm.Verdict{Rule: true, Feedback: "plan mode"}, words: "plan mode"},
		"comments": {
			v:     confirm.Verdict{Comments: comments},
			words: "The user's comment on line 2 of the proposal: why\nThe user's comment on line 3 of the proposal: no",
		},
		"comments on files": {
			v: confirm.Verdict{Comments: comments}, files: []string{"a", "b"},
			words: "The user's comment on line 2 of the proposal for a: why\nThe user's comment on line 3 of the proposal for b: no",
		},
	} {
		if got := Words(tt.v, tt.files...); got != tt.words {
			t.Errorf("%s: %q", name, got)
		}
		if got := Feedback(tt.v, tt.files...); got != tt.words && got != "\n"+tt.words {
			t.Errorf("%s: said %q", name, got)
		}
	}
}
