// Package history implements the conversation of a session: all its messages, and those
// of them that a model is sent. It guarantees that every tool call has exactly one
// result before anything else follows, also in the sent messages; that only a rewind
// removes anything; and that the same entries give the same conversation, byte for
// byte.
package history

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Item is a message with the session's own data.
type Item struct {
	// N is the message's number. Numbers grow through a session and are never reused,
	// not even after a rewind.
	N       int
	Message llm.Message
	Meta
	Pinned     bool   // every compaction keeps it word for word
	DeedsAfter []Deed // done after it without the model
	// Stored, if not nil, has the text of a result and its Task, which are not loaded: a compaction
	// replaces them for the model. Whole loads them.
	Stored *Stored
}

// Stored is the content of a message in the session's file.
type Stored struct {
	Size int // bytes
	Load func() (llm.Message, *Task, error)
}

// Whole returns it with its content loaded.
func (it Item) Whole() Item {
	if it.Stored == nil {
		return it
	}
	m, task, err := it.Stored.Load()
	if err != nil {
		m = Result(it.Message.CallID, "[This result cannot be read from the session's file any more: "+err.Error()+"]")
	}
	it.Message, it.Task, it.Stored = m, task, nil
	return it
}

// Meta is data of a message that no model is sent.
type Meta struct {
	Turn   string    `json:"turn,omitzero"`   // of a prompt: the id of its turn
	At     time.Time `json:"at,omitzero"`     // of a prompt
	Mark   int64     `json:"mark,omitzero"`   // of a prompt: its place among the changes of files, see workspace.Root.Mark
	Deed   *Deed     `json:"did,omitzero"`    // of the result of a call that did, or was meant to do, something
	Task   *Task     `json:"task,omitzero"`   // of the result of a call that a sub-agent carried out
	Failed bool      `json:"failed,omitzero"` // of the result of a call that failed or was refused
}

// Task is the conversation of a sub-agent.
type Task struct {
	Messages []llm.Message `json:"messages"`
	// Failed and Refused have the ids of its calls that failed or were declined.
	Failed  []string `json:"failed,omitzero"`
	Refused []string `json:"refused,omitzero"`
}

// NewTask returns the task with these messages, and with the ids of the calls that failed or
// were declined; nil without messages.
func NewTask(messages []llm.Message, failed, refused []string) *Task {
	if len(messages) == 0 {
		return nil
	}
	return &Task{Messages: messages, Failed: failed, Refused: refused}
}

// Deed records a call that changed or ran something, or that was refused, or an action
// without the model. Nothing in it is shortened.
type Deed struct {
	What    string `json:"what"`            // "Edit main.go", "Run " and the command
	Result  string `json:"result,omitzero"` // "+3 −1"
	Words   string `json:"words,omitzero"`  // of the person who approved or declined it
	Plan    string `json:"plan,omitzero"`   // the accepted plan, in Markdown, as the person left it
	Refused bool   `json:"refused,omitzero"`
	Failed  bool   `json:"failed,omitzero"`
	Files   []File `json:"files,omitzero"` // the changed files
}

// Act is a deed without the model, such as an undo, after the message with the number
// After.
type Act struct {
	After int  `json:"after"`
	Deed  Deed `json:"deed"`
}

// File is a changed file; Added and Removed count lines.
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

// Pin pins or unpins a message.
type Pin struct {
	N  int  `json:"n"`
	On bool `json:"on"`
}

// Compaction replaces the messages before a number by a text, cuts results, or does both.
type Compaction struct {
	Before  int    `json:"before"` // messages with lower numbers are not sent
	Text    string `json:"text"`   // sent in their place; empty: it replaces none
	Summary string `json:"summary"`
	// Results up to the message Last are cut to Clip bytes; zero means that they are
	// sent whole.
	Last int `json:"last"`
	Clip int `json:"clip,omitzero"`
	// FullFile holds the full text of the parts that Text shortens, and of the results
	// that are cut; empty without such parts, or without a file.
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

// Entries returns messages as entries without numbers.
func Entries(messages ...llm.Message) []Entry {
	out := make([]Entry, len(messages))
	for i, m := range messages {
		out[i].Item = &Item{Message: m}
	}
	return out
}

// Prompt is a message of the user that the conversation can be rewound to.
type Prompt struct {
	N    int
	Text string
	Turn string // empty if it was delivered to a running turn, or if unknown
	At   time.Time
	Mark int64 // see Meta; zero if unknown
	// Pinned reports whether no compaction shortens it.
	Pinned bool
}

// Items returns the messages that were not rewound. The caller must not change the
// slice, and no method of t does.
func (t *Transcript) Items() []Item { return t.items }

// Messages returns the messages of items.
func Messages(items []Item) []llm.Message {
	out := make([]llm.Message, len(items))
	for i, it := range items {
		out[i] = it.Message
	}
	return out
}

// Sent returns the messages that a model is sent. The caller must not change the slice;
// it is only appended to until a rewind or a compaction replaces it.
func (t *Transcript) Sent() []llm.Message { return t.sent }

// Prompts reports whether the user wrote the message, or a part of it.
func (it Item) Prompts() bool {
	own := func(p llm.Part) bool { return !p.Aside }
	return it.Message.Role == llm.User && slices.ContainsFunc(it.Message.Parts, own)
}

// Prompts returns the user's messages, oldest first.
func Prompts(items []Item) []Prompt {
	var all []Prompt
	for _, it := range items {
		if it.Prompts() {
			all = append(all, Prompt{N: it.N, Text: it.Message.UserText(), Turn: it.Turn, At: it.At, Mark: it.Mark, Pinned: it.Pinned})
		}
	}
	return all
}

// Rewind takes back the prompt with number before and everything after it.
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

// At returns the index of the first item with number n or higher.
func At(items []Item, n int) int {
	i, _ := slices.BinarySearchFunc(items, n, func(it Item, n int) int { return it.N - n })
	return i
}

// cut removes the messages from number before on. If that is in the middle of results,
// which only happens in a damaged file, their calls are open again.
func (t *Transcript) cut(before int) {
	t.items = slices.Clone(t.items[:At(t.items, before)])
	t.compactions = slices.DeleteFunc(slices.Clone(t.compactions), func(c Compaction) bool { return c.Before >= before })
	t.resend()
	t.open = openCalls(t.items)
}

// openCalls returns the calls of the last answer without a result.
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

// errOpenCalls is returned while results are missing.
var errOpenCalls = errors.New("tool calls without a result")
