package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Transcript is a conversation. Only Append and Close extend it, and they keep
// invariant I1: while calls are open it only accepts their results, each once and in
// the calls' order.
type Transcript struct {
	items       []Item         // the messages that were not rewound
	sent        []llm.Message  // the messages that a model is sent
	open        []llm.ToolCall // the calls without results, in order
	ids         callIDs        // all so far
	last        int            // the highest number so far
	compactions []Compaction   // the last one is in force
	rebuilding  bool           // sent is not complete
}

// Append adds it, numbering it if it has no number, and returns the entry to store. If
// the message cannot follow it returns an error and changes nothing.
func (t *Transcript) Append(it Item) (Entry, error) {
	if err := t.admits(it.Message); err != nil {
		return Entry{}, err
	}
	switch it.Message.Role {
	case llm.ToolReply:
		t.open = t.open[1:]
	case llm.Assistant:
		t.open = it.Message.Calls
		for _, c := range it.Message.Calls {
			t.ids = t.ids.with(c.ID)
		}
	}
	return t.add(it), nil
}

// add adds an admitted item.
func (t *Transcript) add(it Item) Entry {
	if it.N <= t.last {
		it.N = t.last + 1
	}
	t.last = it.N
	t.items = append(t.items, it)
	t.sent = append(t.sent, it.Message)
	return Entry{Item: &it}
}

// Close gives every open call the same result and returns the results.
func (t *Transcript) Close(text string) []Entry {
	var added []Entry
	for _, c := range t.open {
		added = append(added, t.add(Item{Message: Result(c.ID, text)}))
	}
	t.open = nil
	return added
}

func (t *Transcript) admits(m llm.Message) error {
	switch {
	case m.Role == llm.ToolReply:
		if len(t.open) == 0 || t.open[0].ID != m.CallID {
			return fmt.Errorf("result of call %q: no such call is waiting", m.CallID)
		}
	case len(t.open) > 0:
		return fmt.Errorf("%w: %q", errOpenCalls, t.open[0].ID)
	case m.Role != llm.User && m.Role != llm.Assistant:
		return fmt.Errorf("a message of role %q", m.Role)
	}
	if len(m.Calls) == 0 && m.Text() == "" {
		return errors.New("an empty message")
	}
	if len(t.items) == 0 && m.Role != llm.User {
		return errors.New("a conversation begins with a prompt")
	}
	return t.ids.admit(m)
}

// Unanswered reports whether the last message is a prompt: it was cancelled, or its
// request failed, before the model answered. Many models refuse two prompts in a row,
// and would refuse the session from then on.
func (t *Transcript) Unanswered() bool {
	return len(t.items) > 0 && t.items[len(t.items)-1].Message.Role == llm.User
}

// Admissible returns calls in a form that the transcript and every provider accept. It
// drops a call that comes twice in the answer, so that it runs once; it renames an id
// that an earlier answer used; and it replaces a name that no tool can have and
// arguments that are not a JSON object, with the reason in Problem. dropped counts the
// dropped calls.
func (t *Transcript) Admissible(calls []llm.ToolCall) (kept []llm.ToolCall, dropped int) {
	taken := make(map[string]bool, len(calls))
	for _, c := range calls {
		taken[c.ID] = true
	}
	seen := make(map[string]bool, len(calls))
	for _, c := range calls {
		if c.ID != "" && seen[c.ID] {
			dropped++
			continue
		}
		seen[c.ID] = true
		c.ID = t.ids.free(c.ID, taken)
		kept = append(kept, wellFormed(c))
	}
	return kept, dropped
}

func wellFormed(c llm.ToolCall) llm.ToolCall {
	if name := toolName(c.Name); name != c.Name {
		c.Name, c.Problem = name, "no tool has that name"
	}
	if c.Problem == "" && !isObject(c.Args) {
		c.Problem = "the arguments are not a JSON object"
	}
	if c.Problem != "" {
		c.Problem = Valid(c.Problem)
	}
	if !isObject(c.Args) {
		c.Args = "{}"
	}
	return c
}

// toolName replaces the characters of name that providers do not accept: they would
// refuse any conversation with such a name.
func toolName(name string) string {
	if name == "" {
		return "unnamed"
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 64)]
}

// isObject reports whether args is one JSON object.
func isObject(args string) bool {
	trimmed := bytes.TrimLeft([]byte(args), " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed)
}

// Text returns a message of one text part that can be stored and sent. It replaces
// invalid UTF-8, which would not survive that.
func Text(r llm.Role, s string) llm.Message {
	return llm.TextMessage(r, Valid(s))
}

// Result returns the result of a call.
func Result(id, s string) llm.Message {
	if s == "" {
		s = "(no output)"
	}
	m := Text(llm.ToolReply, s)
	m.CallID = id
	return m
}

// Valid returns s with invalid UTF-8 replaced.
func Valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Fenced returns text as a code block that nothing in it can end.
func Fenced(lang, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + lang + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}
