package session

import (
	"fmt"
	"slices"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// rebuild makes a transcript of what was stored. A crash leaves calls without
// results, a damaged file results without calls: calls get a result that says
// so, and what cannot stand anywhere is left out. The same messages give the
// same transcript. added are the results at its end that the file does not hold.
func rebuild(stored []llm.Message) (t *Transcript, added []llm.Message, notes []string) {
	t = &Transcript{msgs: make([]llm.Message, 0, len(stored)+16)}
	closed, left := 0, 0
	for _, m := range stored {
		closed += t.interruptBefore(m)
		if t.append(m) != nil {
			left++
		}
	}
	added = t.close(resultInterrupted)
	if n := closed + len(added); n > 0 {
		notes = append(notes, fmt.Sprintf("%d tool call(s) had no result: the program ended while they ran. The model is told to check.", n))
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d message(s) could not be continued from and were left out.", left))
	}
	return t, added, notes
}

// interruptBefore gives the open calls that m leaves behind the result that
// their effect is not known, and returns their number: for the result of a later
// call those before it, for any other message all.
func (t *Transcript) interruptBefore(m llm.Message) int {
	n := len(t.open)
	if m.Role == llm.ToolReply {
		n = max(0, slices.IndexFunc(t.open, func(c llm.ToolCall) bool { return c.ID == m.CallID }))
	}
	later := t.open[n:]
	t.open = t.open[:n]
	t.close(resultInterrupted)
	t.open = later
	return n
}
