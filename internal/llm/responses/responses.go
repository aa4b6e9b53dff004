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
	Learned     []string       // from the refusals of earlier; see Protocol.Learned
}

// Protocol encodes requests and reads answers. It may be used by several goroutines.
type Protocol struct {
	opt   Options
	conv  conversation
	tools remote.Tools

	mu    sync.Mutex
	leave map[string]bool // parameters that the server refused
}

var _ remote.Protocol = (*Protocol)(nil)

// New returns the protocol for one model.
func New(opt Options) *Protocol {
	p := &Protocol{opt: opt, conv: conversation{model: opt.Model}, leave: map[string]bool{}}
	for _, change := range opt.Learned {
		if name, ok := strings.CutPrefix(change, without); ok && slices.Contains(optional, name) {
			p.leave[name] = true
		}
	}
	return p
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
	tools, err := p.tools.Encode(req.Tools, "", func() any { return toolsOf(req.Tools) })
	if err != nil {
		return nil, err
	}
	return remote.Head(fields, p.opt.Extra, tools, "input")
}

func toolsOf(specs []llm.ToolSpec) []tool {
	tools := make([]tool, len(specs))
	for i, s := range specs {
		tools[i] = tool{Type: "function", Name: s.Name, Description: s.Description, Parameters: s.ObjectSchema()}
	}
	return tools
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
	fields["include"] = []string{"reasoning.encrypted_content"}
	reasoning := map[string]any{"summary": "auto"}
	if effort != "" {
		reasoning["effort"] = effort
	}
	fields["reasoning"] = reasoning
	maps.DeleteFunc(fields, func(key string, _ any) bool { return p.leave[key] })
	return fields
}

// NoEffort reports whether the model does not reason.
func (p *Protocol) NoEffort() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leave["reasoning"]
}

// optional are the parameters without which a request means the same.
var optional = []string{"temperature", "max_output_tokens", "prompt_cache_key", "include", "reasoning"}

// without begins the name of a change that leaves out a parameter.
const without = "no "

// Learned names the changes to requests that refusals taught, in words for people.
func (p *Protocol) Learned() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for _, name := range optional {
		if p.leave[name] {
			names = append(names, without+name)
		}
	}
	return names
}

// MaxTools returns how many tools a request may have.
func (p *Protocol) MaxTools() int { return remote.MaxFunctions }

// Learn implements remote.Protocol.
func (p *Protocol) Learn(refusal *llm.Error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.leave)
	for _, each := range refusal.Each() {
		if !each.AboutForm() {
			continue
		}
		names := p.refused(strings.ToLower(each.Message + " " + each.Field))
		if accepted := each.Accepts(); len(names) > 0 && accepted != nil {
			names = slices.DeleteFunc(slices.Clone(optional), func(name string) bool { return slices.Contains(accepted, name) })
		}
		for _, name := range names {
			p.leave[name] = true
		}
	}
	return len(p.leave) > before
}

// refused returns the parameters that the server does not accept, according to its text.
func (p *Protocol) refused(text string) []string {
	if strings.Contains(text, "supported values") {
		return nil // another value is accepted, which the user has to choose
	}
	if strings.Contains(text, "encrypted content is not supported") || strings.Contains(text, "reasoning.") && strings.Contains(text, "support") {
		return []string{"include", "reasoning"} // the model does not reason
	}
	if !strings.Contains(text, "parameter") && !strings.Contains(text, "unrecognized") && !strings.Contains(text, "not permitted") && !strings.Contains(text, "unknown field") {
		return nil
	}
	for _, name := range optional {
		if strings.Contains(text, name) && !p.leave[name] {
			return []string{name}
		}
	}
	return nil
}
