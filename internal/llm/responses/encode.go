package responses

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

const wireName = "responses"

// Texts for places that the API does not allow to be empty.
const (
	noText   = "(no text)"   // of a person
	noOutput = "(no output)" // of a tool
)

// content is one piece of what somebody said.
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitzero"`
	ImageURL string `json:"image_url,omitzero"`
}

// said is an item of text and images.
type said struct {
	Role    string    `json:"role"`
	Phase   string    `json:"phase,omitzero"` // of an answer, as it came
	Content []content `json:"content"`
}

// call is an item in which the model calls a tool.
type call struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Args   string `json:"arguments"`
}

// output is an item with a tool's result: a string, or a list with images.
type output struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output any    `json:"output"`
}

// conversation keeps the encoded form of the messages that were sent last, so
// that a request costs only its new part.
type conversation struct {
	model string

	mu    sync.Mutex
	sent  remote.Sent // what items hold
	items [][]byte    // the items of one message each, each after a comma; never changed
}

// encode returns messages as items, each after a comma. It uses again what it
// encoded before if messages begin with that.
func (c *conversation) encode(messages []llm.Message) ([][]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest, continues := c.sent.Rest(messages)
	if !continues {
		c.items = nil
	}
	for _, m := range rest {
		if err := c.add(m); err != nil {
			return nil, err
		}
	}
	return slices.Clone(c.items), nil
}

func (c *conversation) add(m llm.Message) error {
	var items []byte
	for _, item := range c.itemsOf(m) {
		data, err := remote.Marshal(item)
		if err != nil {
			return fmt.Errorf("encoding a message: %w", err)
		}
		items = append(append(items, ','), data...)
	}
	c.items = append(c.items, items)
	c.sent.Add(m)
	return nil
}

// used reports whether a call of the conversation has this id.
func (c *conversation) used(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent.Used(id)
}

func (c *conversation) itemsOf(m llm.Message) []any {
	switch m.Role {
	case llm.Assistant:
		return c.answer(m)
	case llm.ToolReply:
		return []any{output{Type: "function_call_output", CallID: llm.SafeID(m.CallID, llm.MaxCallID), Output: outputOf(m)}}
	case llm.System, llm.User:
	}
	parts := contents(m)
	if len(parts) == 0 {
		parts = []content{{Type: "input_text", Text: noText}}
	}
	return []any{said{Role: string(m.Role), Content: parts}}
}

// answer returns the model's words and calls; nothing of an answer that was empty.
func (c *conversation) answer(m llm.Message) []any {
	var items []any
	for _, p := range m.Pieces(wireName, c.model) {
		switch {
		case p.Opaque != nil:
			items = append(items, p.Opaque)
		case p.Call != nil:
			items = append(items, call{Type: "function_call", CallID: llm.SafeID(p.Call.ID, llm.MaxCallID), Name: p.Call.Name, Args: p.Call.Object()})
		default:
			items = append(items, said{Role: "assistant", Phase: p.Phase, Content: []content{{Type: "output_text", Text: p.Text}}})
		}
	}
	return items
}

func outputOf(m llm.Message) any {
	parts := contents(m)
	if slices.ContainsFunc(parts, func(p content) bool { return p.ImageURL != "" }) {
		return parts
	}
	if text := m.Text(); strings.TrimSpace(text) != "" {
		return text
	}
	return noOutput
}

// contents returns the texts and images of m.
func contents(m llm.Message) []content {
	var list []content
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.ImagePart:
			list = append(list, content{Type: "input_image", ImageURL: "data:" + p.Mime + ";base64," + base64.StdEncoding.EncodeToString(p.Data)})
		case p.Kind == llm.TextPart && strings.TrimSpace(p.Text) != "":
			list = append(list, content{Type: "input_text", Text: p.Text})
		}
	}
	return list
}
