// Package history is the conversation of a session: all that was said, and what
// of it a model is sent. It guarantees that every tool call has exactly one
// result before anything else follows, also in what is sent; that nothing of
// it is ever lost but by a rewind; and that the same entries give the same
// conversation, byte for byte.
package history

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Item is a message, with what a session keeps beside it.
type Item struct {
	// N is the message's number. Numbers grow through a session and are never
	// used again, also not after a rewind.
	N       int
	Message llm.Message
	Note
}

// Note is what a session keeps of a message that no model is sent.
type Note struct {
	Turn string    `json:"turn,omitzero"` // of a prompt: the turn that it began
	At   time.Time `json:"at,omitzero"`   // of a prompt
	// Did is set in the result of a call that changed or ran something, or
	// that was refused: what came of it, in a line.
	Did string `json:"did,omitzero"`
}

// Rewind takes back the messages from number Before on.
type Rewind struct {
	Before int `json:"before"`
}

// Entry is a step of a conversation; one field is set.
type Entry struct {
	Item   *Item
	Rewind *Rewind
}

// Say returns messages as entries that have no number yet.
func Say(messages ...llm.Message) []Entry {
	out := make([]Entry, len(messages))
	for i, m := range messages {
		out[i].Item = &Item{Message: m}
	}
	return out
}

// Prompt is a message of the user that the conversation can be taken back to.
type Prompt struct {
	N    int
	Text string
	Turn string // empty if it was delivered to a running turn, or not known
	At   time.Time
}

// Items returns all that was said and not taken back. It is not to be changed.
func (t *Transcript) Items() []Item { return t.items }

// Sent returns what a model is sent. It is not to be changed; it is only ever
// appended to until a rewind makes another one.
func (t *Transcript) Sent() []llm.Message { return t.sent }

// Prompts lists what the user has said, the oldest first.
func (t *Transcript) Prompts() []Prompt {
	var all []Prompt
	for _, it := range t.items {
		if it.Message.Role == llm.User {
			all = append(all, Prompt{N: it.N, Text: it.Message.Said(), Turn: it.Turn, At: it.At})
		}
	}
	return all
}

// Rewind takes back the prompt with number before and all that follows it.
func (t *Transcript) Rewind(before int) (Entry, error) {
	i := t.at(before)
	if i == len(t.items) || t.items[i].N != before || t.items[i].Message.Role != llm.User {
		return Entry{}, fmt.Errorf("there is no prompt with number %d to go back to", before)
	}
	if len(t.open) > 0 {
		return Entry{}, errOpenCalls
	}
	t.cut(before)
	return Entry{Rewind: &Rewind{Before: before}}, nil
}

// at returns the index of the first item with number n or a later one.
func (t *Transcript) at(n int) int {
	i, _ := slices.BinarySearchFunc(t.items, n, func(it Item, n int) int { return it.N - n })
	return i
}

// cut leaves out the messages from number before on. Where that is in the midst
// of results, as only a damaged file has it, their calls are open again.
func (t *Transcript) cut(before int) {
	t.items = slices.Clone(t.items[:t.at(before)])
	t.sent = make([]llm.Message, len(t.items))
	for i, it := range t.items {
		t.sent[i] = it.Message
	}
	t.open = openCalls(t.items)
}

// openCalls returns the calls of the last answer that have no result.
func openCalls(items []Item) []llm.ToolCall {
	results := 0
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Message.Role != llm.ToolReply {
			calls := items[i].Message.Calls
			return calls[min(results, len(calls)):]
		}
		results++
	}
	return nil
}

// errOpenCalls is returned where results are still missing.
var errOpenCalls = errors.New("tool calls without a result")
