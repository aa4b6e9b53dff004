// Package anthropic speaks the Messages API. It guarantees that a request begins
// with the bytes of the one before, apart from the cache markers, which move with
// the conversation, and that thinking goes back to the model as it came.
package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
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
	MaxTokens   int    // of the answer; zero: defaultMaxTokens, or the model's limit if that is less
	Temperature *float64
	Effort      string         // how much the model thinks: low, medium, high …; empty: the model's default
	Extra       map[string]any // merged into the request's body, over our own
	Search      bool           // whether the server may search the web by itself
	Learned     []string       // from the refusals of earlier; see Protocol.Learned
	CacheHour   bool           // the server is asked to cache for an hour, not for five minutes
}

// defaultMaxTokens bounds an answer, as the API demands a bound.
const defaultMaxTokens = 32_000

// version of the API.
const version = "2023-06-01"

// Protocol encodes requests and reads answers. It may be used by several goroutines.
type Protocol struct {
	opt   Options
	conv  conversation
	tools remote.Tools

	mu      sync.Mutex
	limit   int      // of the answer's tokens
	bound   int      // of the model, if a refusal named it
	think   thinking // how thinking is asked for
	asked   bool     // the last request asks for it
	cold    bool     // requests have no temperature
	newer   bool     // adaptive thinking was demanded after a budget
	short   bool     // the server caches for five minutes only
	wordy   bool     // no schema of the answer
	formed  bool     // the last request had one
	offline bool     // no search of the web
}

// thinking is how a model is asked to think.
type thinking int

const (
	adaptive thinking = iota // thinking adaptive with output_config.effort
	budgeted                 // thinking enabled with a budget
	silent                   // not at all
)

var _ remote.Protocol = (*Protocol)(nil)

// New returns the protocol for one model.
func New(opt Options) *Protocol {
	p := &Protocol{opt: opt, conv: conversation{model: opt.Model}, limit: opt.MaxTokens}
	if p.limit <= 0 {
		p.limit = defaultMaxTokens
	}
	for _, change := range opt.Learned {
		if tokens, ok := strings.CutPrefix(change, bounded); ok {
			if n, err := strconv.Atoi(tokens); err == nil && n > 0 {
				p.bound = n
				p.limit = min(p.limit, n)
			}
		}
		if think := slices.Index(thinkings[:], change); think > int(adaptive) {
			p.think = thinking(think)
		}
		p.cold = p.cold || change == noTemperature
		p.short = p.short || change == remote.ShortCache
		p.wordy = p.wordy || change == noAnswerForm
		p.offline = p.offline || change == remote.WebSearch
	}
	return p
}

// bounded begins the name of the change that bounds an answer.
const bounded = "max_tokens "

// noAnswerForm is the change that leaves the schema of the answer out.
const noAnswerForm = "no output_config.format"

// noTemperature is the change that leaves the temperature out.
const noTemperature = "no temperature"

// thinkings are the names of each thinking, as a change.
var thinkings = [...]string{budgeted: "thinking with a budget", silent: "no thinking"}

// Learned names the changes to requests that refusals taught, in words for people.
func (p *Protocol) Learned() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	if p.bound > 0 {
		names = append(names, bounded+strconv.Itoa(p.bound))
	}
	if p.think != adaptive {
		names = append(names, thinkings[p.think])
	}
	if p.cold {
		names = append(names, noTemperature)
	}
	if p.short {
		names = append(names, remote.ShortCache)
	}
	if p.wordy {
		names = append(names, noAnswerForm)
	}
	if p.offline {
		names = append(names, remote.WebSearch)
	}
	return names
}

// Authorize adds key to the header of a request, see remote.Options.
func Authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", version)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

// Encode implements remote.Protocol.
func (p *Protocol) Encode(req llm.Request) (remote.Request, error) {
	hour := p.lasting()
	head, err := p.head(req, hour)
	if err != nil {
		return remote.Request{}, err
	}
	turns, err := p.conv.encode(req.Messages, remote.CacheMarker(hour))
	if err != nil {
		return remote.Request{}, err
	}
	return remote.NewRequest("/messages", head, turns), nil
}

// Answer implements remote.Protocol.
func (p *Protocol) Answer() remote.Answer { return &answer{model: p.opt.Model, used: p.conv.used} }

// head returns the body up to its first message.
func (p *Protocol) head(req llm.Request, hour bool) ([]byte, error) {
	fields := p.parameters(cmp.Or(req.Effort, p.opt.Effort), req.Answer)
	marker := remote.CacheMarker(hour)
	searches := p.searches() && !req.Offline
	tools, err := p.tools.Encode(req.Tools, fmt.Sprint(marker, searches), func() any { return toolsOf(req.Tools, hour, searches) })
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(req.System) != "" {
		fields["system"] = []map[string]any{{"type": "text", "text": req.System, "cache_control": ephemeral(hour)}}
	}
	return remote.Head(fields, p.opt.Extra, tools, "messages")
}

// lasting reports whether the server is asked to cache for an hour.
func (p *Protocol) lasting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opt.CacheHour && !p.short
}

// ephemeral returns the value of a cache marker.
func ephemeral(hour bool) map[string]string {
	if hour {
		return map[string]string{"type": "ephemeral", "ttl": "1h"}
	}
	return map[string]string{"type": "ephemeral"}
}

// searches reports whether the server may search the web.
func (p *Protocol) searches() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opt.Search && !p.offline
}

// maxSearches is how often the server may search for an answer.
const maxSearches = 5

func toolsOf(specs []llm.ToolSpec, hour, searches bool) []map[string]any {
	var tools []map[string]any
	if searches {
		tools = append(tools, map[string]any{"type": "web_search_20250305", "name": "web_search", "max_uses": maxSearches})
	}
	for _, s := range specs {
		schema := s.ObjectSchema()
		if s.Foreign {
			schema = toolschema.Messages(schema)
		}
		tools = append(tools, map[string]any{"name": s.Name, "description": s.Description, "input_schema": schema})
	}
	tools[len(tools)-1]["cache_control"] = ephemeral(hour)
	return tools
}

// parameters returns the parameters of a request beside the conversation.
func (p *Protocol) parameters(effort string, answer json.RawMessage) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	fields := map[string]any{"model": p.opt.Model, "max_tokens": p.limit, "stream": true}
	p.asked = effort != "" && effort != "none"
	switch think := p.think; {
	case think == adaptive && p.asked:
		fields["thinking"] = map[string]any{"type": "adaptive"}
		fields["output_config"] = map[string]any{"effort": effort}
	case think == budgeted && p.asked:
		fields["thinking"] = map[string]any{"type": "enabled", "budget_tokens": budget(effort, p.limit)}
	default:
		if p.opt.Temperature != nil && !p.cold { // refused together with thinking
			fields["temperature"] = *p.opt.Temperature
		}
	}
	if p.formed = answer != nil && !p.wordy; p.formed {
		config, _ := fields["output_config"].(map[string]any)
		if config == nil {
			config = map[string]any{}
		}
		config["format"] = map[string]any{"type": "json_schema", "schema": answer}
		fields["output_config"] = config
	}
	return fields
}

// budget returns how many of an answer's tokens may be thinking.
func budget(effort string, limit int) int {
	tokens := map[string]int{"minimal": 1024, "low": 4096, "medium": 10_000, "high": 20_000}[effort]
	if tokens == 0 {
		tokens = 30_000
	}
	return max(1024, min(tokens, limit/2))
}

// NoEffort reports whether the model has refused to think.
func (p *Protocol) NoEffort() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.think == silent
}

// tooMany finds the model's own bound in a refusal: "max_tokens: 32000 > 8192, which is …".
var tooMany = lazyregexp.New(`max_tokens: \d+ > (\d+)`)

// neverThinks matches the refusal of any thinking, not only of its newest form.
var neverThinks = lazyregexp.New(`(does not|doesn't) support (extended )?thinking`)

// aboutThinking matches a refusal that mentions how thinking is asked for.
var aboutThinking = lazyregexp.New(`thinking|effort|output_config`)

// unsupported matches the refusal of a field or of its value.
var unsupported = lazyregexp.New(`not support|doesn't support|unsupported|extra inputs|unknown|unrecognized|expected tags`)

// otherCause matches refusals that mention thinking, but are about the conversation or a
// number of the request: without thinking they would only be hidden.
var otherCause = lazyregexp.New(`\bmessages\.|signature|tool_use|max_tokens`)

// wrongLevel matches the refusal of an effort that names the accepted ones.
var wrongLevel = lazyregexp.New(`effort.*((supported|valid|allowed) (values|levels)|(should|must) be .*low)`)

// adaptiveOnly matches the refusal of a budget by models that only think adaptively.
var adaptiveOnly = lazyregexp.New(`use .{0,2}thinking\.type\.adaptive|use adaptive thinking`)

// refusedTemperature matches the refusal of any temperature but the default.
var refusedTemperature = lazyregexp.New(`temperature.{0,3} (is deprecated|is not supported|may only be set to 1)|temperature: extra inputs`)

// Learn implements remote.Protocol.
func (p *Protocol) Learn(refusal *llm.Error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !refusal.AboutForm() {
		return false
	}
	text := strings.ToLower(refusal.Message)
	if m := tooMany.FindStringSubmatch(text); m != nil {
		return p.learnLimit(m[1])
	}
	switch {
	case !p.short && p.opt.CacheHour && remote.RefusesTTL(text):
		p.short = true
	case p.opt.Search && !p.offline && remote.RefusesSearch(text):
		p.offline = true
	case p.formed && toolschema.RefusesAnswer(text):
		p.wordy = true
	case refusedTemperature.MatchString(text):
		learned := p.opt.Temperature != nil && !p.cold
		p.cold = true
		return learned
	default:
		return p.learnThinking(text)
	}
	return true
}

// learnLimit lowers the limit of an answer.
func (p *Protocol) learnLimit(digits string) bool {
	limit, err := strconv.Atoi(digits)
	if err != nil || limit <= 0 || limit >= p.limit {
		return false
	}
	p.limit, p.bound = limit, limit
	return true
}

// learnThinking changes how thinking is asked for.
func (p *Protocol) learnThinking(text string) bool {
	about := aboutThinking.MatchString(text) && !wrongLevel.MatchString(text) && !otherCause.MatchString(text)
	switch {
	case !about || !p.asked || p.think == silent:
		return false
	case p.think == budgeted && adaptiveOnly.MatchString(text) && !p.newer:
		p.think, p.newer = adaptive, true
		p.cold = p.cold || p.opt.Temperature != nil // such models take none, even if they do not think
	case p.think == adaptive && !neverThinks.MatchString(text):
		p.think = budgeted
	case unsupported.MatchString(text):
		p.think = silent
	default:
		return false
	}
	return true
}
