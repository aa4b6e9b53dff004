// Package responses speaks the Responses API, stateless: nothing is stored on the
// server, and every request carries the whole conversation. It guarantees that a
// request begins with the bytes of the one before, and that encrypted reasoning
// goes back to the model as it came.
package responses

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/llm/toolschema"
)

// Options describe the model and its requests.
type Options struct {
	Model       string // as the server knows it
	MaxTokens   int    // of the answer, reasoning included; zero: the model's own limit
	Temperature *float64
	Effort      string         // how much the model thinks: none, low, medium, high …; empty: its default
	Extra       map[string]any // merged into the request's body, over our own
	Search      bool           // whether the server may search the web by itself
	Plan        bool           // whether a plan of ChatGPT pays, which allows less in a request
	Learned     []string       // from the refusals of earlier; see Protocol.Learned
}

// Protocol encodes requests and reads answers. It may be used by several goroutines.
type Protocol struct {
	opt   Options
	conv  conversation
	tools remote.Tools
	// planned are the tools as an item of the conversation, see withTools.
	planned remote.Tools

	mu     sync.Mutex
	leave  map[string]bool // parameters that the server refused
	formed bool            // a request had the form of its answer
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
	if items, err = p.withTools(items, req.Tools); err != nil {
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
	searches := p.searches() && !req.Offline
	fields := p.parameters(req.Session, cmp.Or(req.Effort, p.opt.Effort), searches)
	if req.Answer != nil && p.forms() {
		fields[answerForm] = map[string]any{"format": map[string]any{
			"type": "json_schema", "name": "answer", "schema": req.Answer, "strict": toolschema.Strict(req.Answer),
		}}
	}
	if strings.TrimSpace(req.System) != "" {
		fields["instructions"] = req.System
	}
	ours, extra := req.Tools, p.opt.Extra
	if p.opt.Plan {
		ours, extra = nil, maps.Clone(extra) // see withTools
		maps.DeleteFunc(extra, func(key string, _ any) bool { return slices.Contains(unplanned, key) })
	}
	tools, err := p.tools.Encode(req.Tools, fmt.Sprint(searches), func() any { return toolsOf(ours, searches) })
	if err != nil {
		return nil, err
	}
	if p.opt.Plan && !searches {
		tools = nil
	}
	return remote.Head(fields, extra, tools, "input")
}

// unplanned are the parameters that are refused if a plan of ChatGPT pays.
var unplanned = []string{
	"background", "conversation", "max_output_tokens", "max_tool_calls", "metadata", "moderation", "multi_agent", "previous_response_id", "prompt",
	"prompt_cache_retention", "safety_identifier", "store", "stream", "temperature", "top_logprobs", "top_p", "truncation", "user",
}

// withTools puts the tools before the items if a plan of ChatGPT pays, which takes them nowhere else.
func (p *Protocol) withTools(items [][]byte, specs []llm.ToolSpec) ([][]byte, error) {
	if !p.opt.Plan || len(specs) == 0 {
		return items, nil
	}
	first, err := p.planned.Encode(specs, "", func() any {
		return map[string]any{"type": "additional_tools", "role": "developer", "tools": toolsOf(specs, false)}
	})
	if err != nil {
		return nil, err
	}
	return append([][]byte{append([]byte{','}, first...)}, items...), nil
}

func toolsOf(specs []llm.ToolSpec, searches bool) []any {
	var tools []any
	for _, s := range specs {
		tools = append(tools, tool{Type: "function", Name: s.Name, Description: s.Description, Parameters: s.ObjectSchema()})
	}
	if searches {
		tools = append(tools, map[string]string{"type": searchTool})
	}
	return tools
}

// searchTool is the server's own tool, and the name of the change without it.
const searchTool = "web_search"

// searches reports whether the server may search the web.
func (p *Protocol) searches() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opt.Search && !p.leave[searchTool]
}

// parameters returns the parameters of a request beside the conversation.
func (p *Protocol) parameters(session, effort string, searches bool) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	fields := map[string]any{"model": p.opt.Model, "stream": true, "store": false}
	if p.opt.MaxTokens > 0 && !p.opt.Plan {
		fields["max_output_tokens"] = p.opt.MaxTokens
	}
	if p.opt.Temperature != nil && !p.opt.Plan {
		fields["temperature"] = *p.opt.Temperature
	}
	if session != "" {
		fields["prompt_cache_key"] = session
	}
	include := []string{"reasoning.encrypted_content"}
	if searches {
		include = append(include, "web_search_call.action.sources")
	}
	fields["include"] = include
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

// answerForm is the parameter with the form of the answer.
const answerForm = "text"

// forms reports whether a request may have the form of its answer, and notes that one has.
func (p *Protocol) forms() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.formed = true
	return !p.leave[answerForm]
}

// optional are the parameters without which a request means the same, or nearly.
var optional = []string{"temperature", "max_output_tokens", "prompt_cache_key", "include", "reasoning", answerForm, searchTool}

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
func (p *Protocol) MaxTools() int {
	if p.searches() {
		return remote.MaxFunctions - 1
	}
	return remote.MaxFunctions
}

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
			names = slices.DeleteFunc(slices.Clone(optional), func(name string) bool {
				return slices.Contains(accepted, name) || name == searchTool || name == answerForm && !p.formed
			})
		}
		for _, name := range names {
			p.leave[name] = true
		}
	}
	return len(p.leave) > before
}

// The texts of refusals, in small letters.
var (
	noReasoning    = lazyregexp.New(`(?s)encrypted content is not supported|reasoning\..*support|support.*reasoning\.`)
	aboutParameter = lazyregexp.New(`parameter|unrecognized|not permitted|unknown field`)
)

// refused returns the parameters that the server does not accept, according to its text.
func (p *Protocol) refused(text string) []string {
	if strings.Contains(text, "supported values") {
		return nil // another value is accepted, which the user has to choose
	}
	if p.opt.Search && !p.leave[searchTool] && remote.RefusesSearch(text) {
		return []string{searchTool}
	}
	if p.formed && !p.leave[answerForm] && toolschema.RefusesAnswer(text) {
		return []string{answerForm}
	}
	if noReasoning.MatchString(text) {
		return []string{"include", "reasoning"} // the model does not reason
	}
	if !aboutParameter.MatchString(text) {
		return nil
	}
	for _, name := range optional {
		if name != answerForm && name != searchTool && strings.Contains(text, name) && !p.leave[name] {
			return []string{name}
		}
	}
	return nil
}
