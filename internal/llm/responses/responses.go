// Package responses speaks the Responses API, stateless: nothing is stored on the
// server, and every request carries the whole conversation. It guarantees that a
// request begins with the bytes of the one before, and that encrypted reasoning
// goes back to the model as it came.
package responses

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// Options describe the model and its requests.
type Options struct {
	Model       string // as the server knows it
	MaxTokens   int    // of the answer, reasoning included; zero: the model's own limit
	Temperature *float64
	Effort      string         // how much the model thinks: none, low, medium, high …; empty: its default
	Extra       map[string]any // merged into the request's body, over our own
}

// Protocol encodes requests and reads answers. It may be used by several goroutines.
type Protocol struct {
	opt  Options
	conv conversation

	mu    sync.Mutex
	plain bool            // the model does not reason
	leave map[string]bool // parameters that the server refused
}

var _ remote.Protocol = (*Protocol)(nil)

// New returns the protocol for one model.
func New(opt Options) *Protocol {
	return &Protocol{opt: opt, conv: conversation{model: opt.Model}, leave: map[string]bool{}}
}

// Encode implements remote.Protocol.
func (p *Protocol) Encode(req llm.Request) (remote.Request, error) {
	head, err := p.head(req)
	if err != nil {
		return remote.Request{}, err
	}
	items, err := p.conv.encode(req.Messages)
	if err != nil {
		return remote.Request{}, err
	}
	items = slices.DeleteFunc(items, func(item []byte) bool { return len(item) == 0 })
	if len(items) > 0 {
		items[0] = items[0][1:] // no comma before the first one
	}
	return remote.NewRequest("/responses", head, items), nil
}

// Answer implements remote.Protocol.
func (p *Protocol) Answer() remote.Answer { return &answer{model: p.opt.Model, used: p.conv.used} }

// tool is a function that the model may call. The server's default for Strict
// would change the schema.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// head returns the body up to its first item.
func (p *Protocol) head(req llm.Request) ([]byte, error) {
	fields := p.parameters(req.Session, cmp.Or(req.Effort, p.opt.Effort))
	if strings.TrimSpace(req.System) != "" {
		fields["instructions"] = req.System
	}
	tools := make([]tool, len(req.Tools))
	for i, s := range req.Tools {
		tools[i] = tool{Type: "function", Name: s.Name, Description: s.Description, Parameters: s.ObjectSchema()}
	}
	if len(tools) > 0 {
		fields["tools"] = tools
	}
	return remote.Head(fields, p.opt.Extra, "input")
}

// parameters returns the parameters of a request beside the conversation.
func (p *Protocol) parameters(session, effort string) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	fields := map[string]any{"model": p.opt.Model, "stream": true, "store": false}
	if p.opt.MaxTokens > 0 {
		fields["max_output_tokens"] = p.opt.MaxTokens
	}
	if p.opt.Temperature != nil {
		fields["temperature"] = *p.opt.Temperature
	}
	if session != "" {
		fields["prompt_cache_key"] = session
	}
	if !p.plain {
		fields["include"] = []string{"reasoning.encrypted_content"}
		reasoning := map[string]any{"summary": "auto"}
		if effort != "" {
			reasoning["effort"] = effort
		}
		fields["reasoning"] = reasoning
	}
	maps.DeleteFunc(fields, func(key string, _ any) bool { return p.leave[key] })
	return fields
}

// NoEffort reports whether the model does not reason.
func (p *Protocol) NoEffort() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plain || p.leave["reasoning"]
}

// optional are the parameters without which a request means the same.
var optional = []string{"temperature", "max_output_tokens", "prompt_cache_key", "include", "reasoning"}

// Learn implements remote.Protocol.
func (p *Protocol) Learn(refusal *llm.Error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := strings.ToLower(refusal.Message)
	if !p.plain && (strings.Contains(text, "encrypted content is not supported") || strings.Contains(text, "reasoning.") && strings.Contains(text, "support")) {
		p.plain = true
		return true
	}
	if !strings.Contains(text, "parameter") && !strings.Contains(text, "unrecognized") {
		return false
	}
	for _, name := range optional {
		if strings.Contains(text, name) && !p.leave[name] {
			p.leave[name] = true
			return true
		}
	}
	return false
}
