package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Interrupted is the result of a call whose own result a crash lost.
const Interrupted = "Interrupted: the program ended before this call returned. Its effect is unknown; check before repeating it."

// Results and marks of calls and answers that the end of the program cut off, if it had
// time to write them.
const (
	Undecided  = "Not done: the program ended before the user answered. Nothing was changed or run; make the call again if it is still wanted."
	NotStarted = "Not run: the program ended before it started."
	CutShort   = "[the program ended here]"
)

// Unfinished reports whether the program ended in the middle of a turn with these
// messages, and returns the first call without an answer, if any.
func Unfinished(items []Item) (call *llm.ToolCall, undecided, left bool) {
	var calls []llm.ToolCall
	for _, it := range items {
		m := it.Message
		switch text := m.Text(); {
		case m.Role == llm.Assistant:
			calls, call, left = m.Calls, nil, strings.HasSuffix(text, CutShort)
		case m.Role == llm.User:
			calls, call, left = nil, nil, false
		case text == Interrupted || text == Undecided || text == NotStarted:
			i := slices.IndexFunc(calls, func(c llm.ToolCall) bool { return c.ID == m.CallID })
			if left = true; call == nil && i >= 0 {
				call, undecided = &calls[i], text == Undecided
			}
		default:
			left = false
		}
	}
	return call, undecided, left
}

// Rebuild makes a transcript of stored entries. A crash leaves calls without results, a
// damaged file results without calls: calls get a result that explains it, and messages
// that fit nowhere are left out. The same entries give the same transcript. added are
// the results at its end that the file lacks; notes are for the user.
func Rebuild(stored []Entry) (t *Transcript, added []Entry, notes []string) {
	t = &Transcript{items: make([]Item, 0, len(stored)+16), rebuilding: true}
	closed, left := 0, 0
	for _, e := range stored {
		switch {
		case e.Item != nil:
			closed += t.interruptBefore(e.Item.Message)
			if _, err := t.Append(*e.Item); err != nil {
				left++
			}
		case e.Rewind != nil:
			t.cut(e.Rewind.Before)
		case e.Pin != nil:
			pin(t.items, *e.Pin)
		case e.Act != nil:
			act(t.items, *e.Act)
		case e.Compaction != nil:
			closed += len(t.interrupt()) // calls before the compaction get their results before it
			t.Compact(*e.Compaction)
		}
	}
	added, t.rebuilding = t.interrupt(), false
	t.resend()
	if n := closed + len(added); n > 0 {
		notes = append(notes, fmt.Sprintf("%d tool call(s) had no result: the program ended while they ran. The model will be told to check.", n))
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d message(s) do not fit the conversation and were left out.", left))
	}
	return t, added, notes
}

// interrupt gives every open call a result: its effect is unknown. Only the first call
// can have had an effect, as calls run one at a time.
func (t *Transcript) interrupt() []Entry {
	var added []Entry
	for i, c := range t.open {
		it := Item{Message: Result(c.ID, Interrupted)}
		if i == 0 {
			it.Failed, it.Deed = true, &Deed{What: "Call " + c.Name + " " + c.Args, Result: "the program ended before this returned: its effect is unknown", Failed: true}
		}
		added = append(added, t.add(it))
	}
	t.open = nil
	return added
}

// interruptBefore gives the open calls that m passes over the result that their effect
// is unknown, and returns their number: before a result of a later call the calls
// before that, before any other message all.
func (t *Transcript) interruptBefore(m llm.Message) int {
	n := len(t.open)
	if m.Role == llm.ToolReply {
		n = max(0, slices.IndexFunc(t.open, func(c llm.ToolCall) bool { return c.ID == m.CallID }))
	}
	later := t.open[n:]
	t.open = t.open[:n]
	t.interrupt()
	t.open = later
	return n
}
