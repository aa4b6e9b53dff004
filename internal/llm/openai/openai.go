// Package openai speaks chat completions, as the many servers that offer them really
// do. It guarantees that a tool call is delivered only whole and as the model wrote it,
// and that a request begins with the bytes of the one before, encoded once.
package openai

import (
	"cmp"
	"slices"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// Options describe the model and its requests.
type Options struct {
	BaseURL     string
	Model       string // as the server knows it
	MaxTokens   int    // of the answer; zero: the server's own limit
	Temperature *float64
	Effort      string         // how much the model thinks; empty: its default
	Extra       map[string]any // merged into the request's body, over our own
	Learned     []string       // from the refusals of earlier; see Protocol.Learned
	// CacheMarkers means that the server caches only what requests mark.
	CacheMarkers bool
	CacheHour    bool // the markers ask for an hour, not for five minutes
}

// Protocol encodes requests and reads answers. It may be used by several goroutines.
type Protocol struct {
	opt     Options
	conv    conversation
	learner *learner
	encoded fieldsCache
}

var _ remote.Protocol = (*Protocol)(nil)

// New returns the protocol for one model.
func New(opt Options) *Protocol {
	return &Protocol{
		opt: opt, conv: conversation{source: remote.Shown(opt.BaseURL) + " " + opt.Model, markers: opt.CacheMarkers, hour: opt.CacheHour},
		learner: newLearner(opt.Learned),
	}
}

// Encode implements remote.Protocol. The encoded messages come last and are not copied,
// so each request begins with the bytes of the previous one.
func (p *Protocol) Encode(req llm.Request) (remote.Request, error) {
	d := p.learner.dialect()
	q := p.conv.encode(req, d)
	head, err := p.head(q.tools, parameters{d, cmp.Or(req.Effort, p.opt.Effort), len(q.tools) > 0, string(req.Answer)})
	if err != nil {
		return remote.Request{}, err
	}
	body := slices.Concat([][]byte{head}, q.messages, [][]byte{[]byte("]}")})
	return remote.Request{Path: "/chat/completions", Body: body, Size: q.size()}, nil
}

// Answer implements remote.Protocol.
func (p *Protocol) Answer() remote.Answer {
	return &answer{used: p.conv.used, hour: p.conv.lasting(p.learner.dialect()), echo: echo{source: p.conv.source}}
}

// Learned names the changes to requests that refusals taught, in words for people.
func (p *Protocol) Learned() []string { return p.learner.dialect().names() }

// NoEffort reports whether the server has refused an effort.
func (p *Protocol) NoEffort() bool { return p.learner.dialect()&(noEffort|effortNone) != 0 }

// EchoesReasoning reports whether the server has demanded the reasoning of every answer.
func (p *Protocol) EchoesReasoning() bool { return p.learner.dialect()&thinkingInAll != 0 }

// MaxTools returns how many tools a request may have.
func (p *Protocol) MaxTools() int { return remote.MaxFunctions }

// Learn implements remote.Protocol.
func (p *Protocol) Learn(refusal *llm.Error) bool {
	learned := false
	for _, each := range refusal.Each() {
		learned = p.learn(each) || learned
	}
	return learned
}

func (p *Protocol) learn(refusal *llm.Error) bool {
	tools, effort, answer := p.conv.last()
	fields, err := p.fields(parameters{p.learner.dialect(), cmp.Or(effort, p.opt.Effort), tools, answer})
	return err == nil && p.learner.learn(refusal, func(field string) bool {
		_, ok := fields[field]
		return ok || field == markerField && p.opt.CacheMarkers || field == ttlField && p.opt.CacheMarkers && p.opt.CacheHour
	})
}
