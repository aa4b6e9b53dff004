package tools

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
)

// Each tool returns an UnansweredError if it is cancelled at its question, so that the session
// can tell it from a call that was stopped.
func TestUnansweredQuestions(t *testing.T) {
	for name, args := range map[string]string{
		"write_file":      `{"path":"new","content":"x"}`,
		"edit_file":       `{"path":"a","old_string":"one","new_string":"two"}`,
		"patch":           `{"path":"a","diff":"@@ -1 +1 @@\n-one\n+two\n"}`,
		"delete_file":     `{"path":"a"}`,
		"move_file":       `{"path":"a","to":"b"}`,
		"execute_command": `{"command":"touch b"}`,
		"present_plan":    `{"plan":"1. Do it."}`,
		"ask_user":        `{"question":"Which?"}`,
		"read_file":       `{"path":".env"}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a": "one\n", ".env": "K=1\n"})
			b.deps.Planning = func() bool { return true }
			b.set = NewSet(b.deps)
			b.ask.err = context.Canceled
			res, err := b.set.Call(t.Context(), name, Call{Args: json.RawMessage(args)})
			var unanswered UnansweredError
			if len(b.ask.asked) != 1 || !errors.As(err, &unanswered) || res.Ran || len(res.Changes) > 0 {
				t.Errorf("%d questions, error %v, result %+v", len(b.ask.asked), err, res)
			}
		})
	}
}
