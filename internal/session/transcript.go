package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// What the model is told about a call that has no result of its own.
const (
	resultCancelled   = "Cancelled by the user while it ran; its effect may be partial. Check before repeating it."
	resultNotRun      = "Not run: the user declined an earlier call of this answer and stopped here."
	resultNotStarted  = "Not run: cancelled by the user before it started."
	resultAfterError  = "Not run: an earlier call of this answer failed and ended the turn."
	resultAfterLimit  = "Not run: a limit ended the turn before this call."
	resultInterrupted = "Interrupted: the program ended before this call returned. Its effect is unknown; check before repeating it."
)

// Marks that the loop puts in the place of what a model did not say.
const (
	markCancelled = "[interrupted by the user]"
	markBroken    = "[the answer broke off here]"
	markEmpty     = "(empty answer)"
	markNoAnswer  = "[no answer]"
)

// errOpenCalls is returned by append where results are still missing.
var errOpenCalls = errors.New("tool calls without a result")

// Transcript is a conversation. append and close are the only ways to extend it,
// and they keep invariant I1: while calls are open nothing is taken but their
// results, each once and in the calls' order. Nothing in it is ever changed.
type Transcript struct {
	msgs []llm.Message
	open []llm.ToolCall      // the calls whose results are missing, in order
	ids  map[string]struct{} // every call id so far
}

// append adds m, or says why m cannot follow and changes nothing.
func (t *Transcript) append(m llm.Message) error {
	if err := t.admits(m); err != nil {
		return err
	}
	switch m.Role {
	case llm.ToolReply:
		t.open = t.open[1:]
	case llm.Assistant:
		t.open = m.Calls
		for _, c := range m.Calls {
			t.use(c.ID)
		}
	}
	t.msgs = append(t.msgs, m)
	return nil
}

// close gives every open call the same result and returns the results.
func (t *Transcript) close(text string) []llm.Message {
	first := len(t.msgs)
	for _, c := range t.open {
		t.msgs = append(t.msgs, result(c.ID, text))
	}
	t.open = nil
	return t.msgs[first:]
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
	if len(t.msgs) == 0 && m.Role != llm.User {
		return errors.New("a conversation begins with a prompt")
	}
	return t.admitsCalls(m)
}

func (t *Transcript) admitsCalls(m llm.Message) error {
	if len(m.Calls) > 0 && m.Role != llm.Assistant {
		return fmt.Errorf("calls in a message of role %q", m.Role)
	}
	seen := make(map[string]struct{}, len(m.Calls))
	for _, c := range m.Calls {
		_, now := seen[c.ID]
		if now || t.used(c.ID) || c.ID == "" {
			return fmt.Errorf("call id %q is empty or taken", c.ID)
		}
		if c.Name == "" || !isObject(c.Args) {
			return fmt.Errorf("call %q has no name or no arguments", c.ID)
		}
		seen[c.ID] = struct{}{}
	}
	return nil
}

// unanswered says whether the last message is a prompt: one that was cancelled,
// or whose request failed, before anything was said. Many models refuse two in
// a row, and would refuse the session from then on.
func (t *Transcript) unanswered() bool {
	return len(t.msgs) > 0 && t.msgs[len(t.msgs)-1].Role == llm.User
}

func (t *Transcript) used(id string) bool {
	_, ok := t.ids[id]
	return ok
}

func (t *Transcript) use(id string) {
	if t.ids == nil {
		t.ids = make(map[string]struct{})
	}
	t.ids[id] = struct{}{}
}

// admissible returns calls as the transcript and every provider take them: a
// call that comes twice in the answer comes once, so that it runs once; an id
// that an earlier answer had gets another one; a name that no tool can have and
// arguments that are no JSON object are replaced, with the reason in Problem.
// dropped counts the calls left out.
func (t *Transcript) admissible(calls []llm.ToolCall) (kept []llm.ToolCall, dropped int) {
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
		c.ID = t.freeID(c.ID, taken)
		kept = append(kept, wellFormed(c))
	}
	return kept, dropped
}

// freeID returns id if no earlier answer had it, else an id made from it that
// is neither in the transcript nor taken; it is taken then.
func (t *Transcript) freeID(id string, taken map[string]bool) string {
	id = valid(id)
	if id != "" && !t.used(id) {
		return id
	}
	base := id
	if base == "" {
		base = "call"
	}
	for n := len(t.ids) + 1; ; n++ {
		if id = base + "_" + strconv.Itoa(n); !t.used(id) && !taken[id] {
			taken[id] = true
			return id
		}
	}
}

func wellFormed(c llm.ToolCall) llm.ToolCall {
	if name := toolName(c.Name); name != c.Name {
		c.Name, c.Problem = name, "no tool has that name"
	}
	if c.Problem == "" && !isObject(c.Args) {
		c.Problem = "the arguments are not a JSON object"
	}
	if c.Problem != "" {
		c.Problem = valid(c.Problem)
	}
	if !isObject(c.Args) {
		c.Args = "{}"
	}
	return c
}

// toolName returns name with what the providers' rule for names refuses
// replaced: a conversation that holds such a name is refused as a whole.
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

// text makes a message of one text part that can be stored and sent: a text
// that is not UTF-8 would come back changed.
func text(r llm.Role, s string) llm.Message {
	return llm.TextMessage(r, valid(s))
}

func result(id, s string) llm.Message {
	if s == "" {
		s = "(no output)"
	}
	m := text(llm.ToolReply, s)
	m.CallID = id
	return m
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
