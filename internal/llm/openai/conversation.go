package openai

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// segmentSize is the size of a piece of the encoded conversation in bytes: large enough
// for few pieces, small enough that growing copies nothing.
const segmentSize = 64 << 10

// conversation caches the encoded form of the messages sent last, so that a request
// only encodes new ones. Encoded bytes never change, so a request in flight keeps its
// own.
type conversation struct {
	mu       sync.Mutex
	sent     []llm.Message       // the encoded messages; our own copies
	ids      map[string]struct{} // of the calls in sent
	segments [][]byte            // the encoded messages, each after a comma
	scratch  []byte
	strict   bool // put an answer between a tool's result and a user's message

	specs []llm.ToolSpec
	tools []byte // the encoded specs
}

// query is one encoded request.
type query struct {
	tools    []byte   // a JSON array; empty for none
	messages [][]byte // the messages, separated by commas
}

// size returns the size of q in bytes.
func (q query) size() int {
	n := len(q.tools)
	for _, m := range q.messages {
		n += len(m)
	}
	return n
}

// encode encodes req. It reuses the previous encoding if req begins with the same
// messages.
func (c *conversation) encode(req llm.Request) query {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.continues(req.Messages) {
		c.sent, c.segments, c.ids = nil, nil, map[string]struct{}{}
	}
	for _, m := range req.Messages[len(c.sent):] {
		c.add(m)
	}
	c.encodeTools(req.Tools)
	q := query{tools: c.tools}
	if req.System != "" {
		q.messages = append(q.messages, appendMessage(nil, llm.TextMessage(llm.System, req.System)))
	}
	for i, s := range c.segments {
		if i == 0 && req.System == "" {
			s = s[1:] // no comma before the first message
		}
		q.messages = append(q.messages, s)
	}
	return q
}

// used reports whether a call of the conversation has this id.
func (c *conversation) used(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.ids[id]
	return ok
}

func (c *conversation) continues(messages []llm.Message) bool {
	return c.ids != nil && len(messages) >= len(c.sent) &&
		slices.EqualFunc(c.sent, messages[:len(c.sent)], llm.Message.Equal)
}

// between is the answer between a tool's result and a user's message, for servers that
// insist on one. It must not be empty.
const between = "(The user goes on.)"

// mustAlternate reports whether the server refuses a message of the user right after a
// tool's result, as some chat templates do.
func mustAlternate(e *llm.Error) bool {
	text := strings.ToLower(e.Message)
	return (e.Kind == llm.Refused || e.Kind == llm.Temporary) &&
		(strings.Contains(text, "roles must alternate") || strings.Contains(text, "role 'user' after role 'tool'") ||
			strings.Contains(text, "role user after role tool"))
}

// insist encodes the conversation for servers whose roles must alternate from now on.
// It reports whether that is a change.
func (c *conversation) insist() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.strict {
		return false
	}
	c.strict, c.ids = true, nil
	return true
}

func (c *conversation) add(m llm.Message) {
	c.scratch = c.scratch[:0]
	if n := len(c.sent); c.strict && m.Role == llm.User && n > 0 && c.sent[n-1].Role == llm.ToolReply {
		c.scratch = appendMessage(append(c.scratch, ','), llm.TextMessage(llm.Assistant, between))
	}
	c.scratch = appendMessage(append(c.scratch, ','), m)
	last := len(c.segments) - 1
	if last < 0 || cap(c.segments[last])-len(c.segments[last]) < len(c.scratch) {
		c.segments = append(c.segments, make([]byte, 0, max(segmentSize, len(c.scratch))))
		last++
	}
	c.segments[last] = append(c.segments[last], c.scratch...)
	m.Parts, m.Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
	c.sent = append(c.sent, m)
	for _, call := range m.Calls {
		c.ids[call.ID] = struct{}{}
	}
}

func (c *conversation) encodeTools(specs []llm.ToolSpec) {
	same := slices.EqualFunc(c.specs, specs, func(a, b llm.ToolSpec) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
	})
	if same {
		return
	}
	c.specs, c.tools = slices.Clone(specs), nil
	for i, s := range specs {
		lead := byte(',')
		if i == 0 {
			lead = '['
		}
		c.tools = appendTool(append(c.tools, lead), s)
	}
	if len(specs) > 0 {
		c.tools = append(c.tools, ']')
	}
}
