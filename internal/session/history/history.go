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
	Pinned bool   // kept word for word by every compaction
	Then   []Deed // what was done after it without the model
}

// Note is what a session keeps of a message that no model is sent.
type Note struct {
	Turn string    `json:"turn,omitzero"` // of a prompt: the turn that it began
	At   time.Time `json:"at,omitzero"`   // of a prompt
	Did  *Deed     `json:"did,omitzero"`  // of the result of a call that did, or was to do, something
}

// Deed is what came of a call that changed or ran something, or that was refused;
// or what was done without the model. Nothing in it is cut.
type Deed struct {
	What    string `json:"what"`            // "Edit main.go", "Run " and the command
	Result  string `json:"result,omitzero"` // "+3 −1"
	Words   string `json:"words,omitzero"`  // of who approved or declined it
	Refused bool   `json:"refused,omitzero"`
	Files   []File `json:"files,omitzero"` // what was changed
}

// Act is a deed without the model, such as an undo, after the message with the
// number After.
type Act struct {
	After int  `json:"after"`
	Deed  Deed `json:"deed"`
}

// File is what a deed has changed in a file, in lines.
type File struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Diff    string `json:"diff,omitzero"` // unified, for the screen; empty if it is long
}

// Rewind takes back the messages from number Before on.
type Rewind struct {
	Before int `json:"before"`
}

// Pin pins a message, or lets it go.
type Pin struct {
	N  int  `json:"n"`
	On bool `json:"on"`
}

// Compaction puts a text in the place of the messages before a number.
type Compaction struct {
	Before  int    `json:"before"` // messages with lower numbers are not sent any more
	Text    string `json:"text"`   // sent in their place
	Summary string `json:"summary"`
	// Results up to the message Last are cut to Clip bytes; zero means that they
	// are sent whole.
	Last int `json:"last"`
	Clip int `json:"clip,omitzero"`
	// FullFile is the file that holds word for word what Text shortens; empty if it
	// shortens nothing, or there is no such file.
	FullFile string `json:"whole,omitzero"`
}

// Entry is a step of a conversation; one field is set.
type Entry struct {
	Item       *Item
	Rewind     *Rewind
	Pin        *Pin
	Act        *Act
	Compaction *Compaction
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
	// Pinned says that no compaction shortens it.
	Pinned bool
}

// Items returns all that was said and not taken back. It is not to be changed, and no
// method of t changes it.
func (t *Transcript) Items() []Item { return t.items }

// Messages returns the messages of items.
func Messages(items []Item) []llm.Message {
	out := make([]llm.Message, len(items))
	for i, it := range items {
		out[i] = it.Message
	}
	return out
}

// Sent returns what a model is sent. It is not to be changed; it is only ever
// appended to until a rewind or a compaction makes another one.
func (t *Transcript) Sent() []llm.Message { return t.sent }

// Prompts lists what the user has said, the oldest first.
func Prompts(items []Item) []Prompt {
	var all []Prompt
	for _, it := range items {
		if it.Message.Role == llm.User {
			all = append(all, Prompt{N: it.N, Text: it.Message.UserText(), Turn: it.Turn, At: it.At, Pinned: it.Pinned})
		}
	}
	return all
}

// Rewind takes back the prompt with number before and all that follows it.
func (t *Transcript) Rewind(before int) (Entry, error) {
	i := At(t.items, before)
	if i == len(t.items) || t.items[i].N != before || t.items[i].Message.Role != llm.User {
		return Entry{}, fmt.Errorf("there is no prompt with number %d to go back to", before)
	}
	if len(t.open) > 0 {
		return Entry{}, errOpenCalls
	}
	t.cut(before)
	return Entry{Rewind: &Rewind{Before: before}}, nil
}

// At returns the index of the first item with number n or a later one.
func At(items []Item, n int) int {
	i, _ := slices.BinarySearchFunc(items, n, func(it Item, n int) int { return it.N - n })
	return i
}

// cut leaves out the messages from number before on. Where that is in the midst
// of results, as only a damaged file has it, their calls are open again.
func (t *Transcript) cut(before int) {
	t.items = slices.Clone(t.items[:At(t.items, before)])
	t.made = slices.DeleteFunc(slices.Clone(t.made), func(c Compaction) bool { return c.Before >= before })
	t.sent = view(t.items, t.Compaction())
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
