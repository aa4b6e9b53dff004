package tools

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

func TestWords(t *testing.T) {
	for name, tt := range map[string]struct {
		v                  confirm.Verdict
		patch, words, said string
	}{
		"a bare yes": {v: confirm.Verdict{Decision: confirm.Approve}},
		"a reason":   {v: confirm.Verdict{Feedback: "too\nrisky"}, words: "\nThe user says: too\nrisky", said: "The user says: too\nrisky"},
		"a rule":     {v: confirm.Verdict{Rule: true, Feedback: "plan mode"}, words: "\nplan mode", said: "plan mode"},
		"comments": {
			v: confirm.Verdict{Comments: []confirm.Comment{{Line: 2, Text: "why"}, {Line: 3, Text: "no"}}}, patch: "-a\n+b\n",
			words: "\nThe user's comment on line 2 of the proposal: why\nThe user's comment on line 3 of the proposal: no",
			said: "From the proposal to what was written:\n-a\n+b\nThe user's comment on line 2 of the proposal: why\n" +
				"The user's comment on line 3 of the proposal: no",
		},
	} {
		if got := verdictForModel(tt.v); got != tt.words {
			t.Errorf("%s: %q", name, got)
		}
		if got := verdictForRecord(tt.v, tt.patch); got != tt.said {
			t.Errorf("%s: said %q", name, got)
		}
	}
}

func TestBounded(t *testing.T) {
	if got := boundedPatch("-a\n+b\n"); got != "-a\n+b\n" {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("+a line of the patch\n", 1000)
	got := boundedPatch(long)
	if len(got) > maxPatch+60 || !strings.HasSuffix(got, "patch\n[the rest is left out: read the file]\n") {
		t.Errorf("%d bytes, %q", len(got), got[len(got)-80:])
	}
}
