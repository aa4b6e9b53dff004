package llm

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm/lenient"
)

// NewCallID returns an id for a call to which the server gave none.
func NewCallID() string { return "call_" + rand.Text() }

// SafeID returns a call's id in the characters that every provider allows, of most bytes at most. A
// sum keeps ids apart that differ in other characters alone.
func SafeID(id string, most int) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
	if clean == id && id != "" && len(id) <= most {
		return id
	}
	return fmt.Sprintf("%.*s_%016x", most-17, clean, sumOf(id))
}

// MaxCallID is the most bytes that Messages and Responses allow in a call's id.
const MaxCallID = 64

// NineLetters returns a call's id in the form that Mistral's servers demand.
func NineLetters(id string) string {
	if len(id) == 9 && !strings.ContainsAny(SafeID(id, len(id)), "_-") {
		return id
	}
	return fmt.Sprintf("%016x", sumOf(id))[:9]
}

func sumOf(id string) uint64 {
	sum := fnv.New64a()
	sum.Write([]byte(id)) // never fails
	return sum.Sum64()
}

// Object returns the arguments if they are a JSON object, else an empty one.
func (c ToolCall) Object() string {
	if strings.HasPrefix(strings.TrimSpace(c.Args), "{") && json.Valid([]byte(c.Args)) {
		return c.Args
	}
	return "{}"
}

// ObjectSchema returns the schema, or that of any object if it is not valid JSON.
func (s ToolSpec) ObjectSchema() json.RawMessage {
	if json.Valid(s.Schema) {
		return s.Schema
	}
	return json.RawMessage(`{"type":"object","properties":{}}`)
}

// ParseCall returns the call with the arguments that a model wrote, in an answer
// that ended with stop. Faults of the JSON that leave a single reading are repaired. A
// call that cannot run, such as one that was cut off, has a Problem.
func ParseCall(id, name, args string, stop StopReason) ToolCall {
	args = strings.TrimSpace(args)
	if args == "" {
		args = "{}"
	}
	if repaired, ok := lenient.Object(args, stop == StopEnd || stop == StopTools); ok {
		args = repaired
	}
	c := ToolCall{ID: id, Name: name, Args: args, Problem: problem(name, args, stop)}
	if c.Problem != "" {
		c.Args = "{}"
	}
	if c.Name == "" {
		c.Name = "unknown"
	}
	return c
}

// problem explains to the model why a call cannot run; it is empty if it can.
func problem(name, args string, stop StopReason) string {
	switch {
	case stop == StopLength:
		return "your answer reached the token limit before it ended, so this call may be incomplete and was not run; send it again, in smaller pieces"
	case stop == StopFilter:
		return "your answer was cut off by the provider's content filter, so this call was not run"
	case name == "":
		return "the call names no tool"
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &object); err != nil {
		return fmt.Sprintf("the arguments are not one complete JSON object (%v); send the whole call again", err)
	}
	if object == nil {
		return "the arguments are not a JSON object; send the whole call again"
	}
	return ""
}
