package subagents

import (
	"testing"

	"github.com/bb2d0cf4/agent/internal/session"
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
