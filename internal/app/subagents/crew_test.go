package subagents

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// After a compaction, and only then, the instructions that a sub-agent was told may be gone.
func TestACompactionIsReported(t *testing.T) {
	times := 0
	emit := new(member).watch(func() { times++ })
	emit(session.TextDelta{Text: "I look."})
	emit(session.AnswerEnded{})
	if times != 0 {
		t.Error("an answer counts as a compaction")
	}
	if emit(session.Filled{}); times != 1 {
		t.Errorf("it was reported %d times", times)
	}
}

// How each call of a sub-agent ended is shown while it works, and kept for later.
func TestHowCallsEndedIsMarked(t *testing.T) {
	var shown strings.Builder
	m := &member{task: tools.Task{Progress: func(text string) { shown.WriteString(text) }}}
	for id, res := range []tools.Result{{}, {Failed: true}, {Failed: true, Denied: &tools.Denied{}}} {
		m.saw(session.CallEnded{Call: llm.ToolCall{ID: string(rune('a' + id))}, Title: "Read", Result: res})
	}
	if d := cmp.Diff("● Read · \n✗ Read · \n○ Read · \n", shown.String()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]string{{"b"}, {"c"}}, [][]string{m.result.TaskFailed, m.result.TaskRefused}); d != "" {
		t.Error(d)
	}
}
