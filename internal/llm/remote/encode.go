package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// CacheMarker returns the member of a piece of content that asks the server to cache the
// request up to and with that piece, for an hour or for five minutes.
func CacheMarker(hour bool) string {
	if hour {
		return `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	}
	return `,"cache_control":{"type":"ephemeral"}`
}

// ShortCache names the change of a protocol whose server caches for five minutes only.
const ShortCache = "cache for five minutes"

// RefusesTTL reports whether the text of a refusal is about the time of a cache marker.
func RefusesTTL(text string) bool { return ttl.MatchString(strings.ToLower(text)) }

var ttl = lazyregexp.New(`\bttl\b`)

// RefusesSearch reports whether the text of a refusal is about the provider's web search.
func RefusesSearch(text string) bool { return search.MatchString(strings.ToLower(text)) }

var search = lazyregexp.New(`web[_ ]search`)

// MarkedTurns is how many of the newest messages to the model carry a marker: the last
// one for the next request, and the one before for this request.
const MarkedTurns = 2

// NewRequest returns the request whose body is head, the items of head's list and the
// end of both. The model reads all of it.
func NewRequest(path string, head []byte, items [][]byte) Request {
	r := Request{Path: path, Body: slices.Concat([][]byte{head}, items, [][]byte{[]byte("]}")})}
	for _, piece := range r.Body {
		r.Size += len(piece)
	}
	return r
}

// Head returns a body up to the items of its list: fields and the encoded tools, if any,
// with the person's extra fields over them. A nil value leaves a field out.
func Head(fields, extra map[string]any, tools []byte, list string) ([]byte, error) {
	maps.Copy(fields, extra)
	maps.DeleteFunc(fields, func(key string, value any) bool { return value == nil || key == list })
	head, err := Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding the request's parameters: %w", err)
	}
	head = bytes.TrimSuffix(head, []byte{'}'})
	if _, own := extra["tools"]; !own && len(tools) > 0 {
		head = append(append(head, `,"tools":`...), tools...)
	}
	return append(head, `,"`+list+`":[`...), nil
}

// Tools holds the encoded tools of the last request, which are usually those of the next
// one: encoding them takes longer than all else in a request. It is safe for concurrent
// use.
type Tools struct {
	mu    sync.Mutex
	specs []llm.ToolSpec
	form  string
	data  []byte
}

// Encode returns specs in a form: a JSON array of the values that encode returns, or nil
// without specs.
func (t *Tools) Encode(specs []llm.ToolSpec, form string, encode func() any) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if form == t.form && slices.EqualFunc(t.specs, specs, llm.ToolSpec.Equal) {
		return t.data, nil
	}
	var data []byte
	if len(specs) > 0 {
		var err error
		if data, err = Marshal(encode()); err != nil {
			return nil, fmt.Errorf("encoding the tools: %w", err)
		}
	}
	t.specs, t.form, t.data = slices.Clone(specs), form, data
	return data, nil
}

// Marshal is json.Marshal without escapes for HTML.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// Sent holds the messages of the last request, so that only new ones are encoded for
// the next. It is for use by one goroutine.
type Sent struct {
	messages []llm.Message // our own copies
	calls    map[string]bool
}

// Rest returns the messages that follow those of the last request. If messages do not
// begin with those, continues is false, s is empty, and Rest returns all.
func (s *Sent) Rest(messages []llm.Message) (rest []llm.Message, continues bool) {
	n := len(s.messages)
	if len(messages) < n || !slices.EqualFunc(s.messages, messages[:n], llm.Message.Equal) {
		*s = Sent{}
		return messages, false
	}
	return messages[n:], true
}

// Add records an encoded message.
func (s *Sent) Add(m llm.Message) {
	m.Parts, m.Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
	s.messages = append(s.messages, m)
	for _, call := range m.Calls {
		if s.calls == nil {
			s.calls = map[string]bool{}
		}
		s.calls[call.ID] = true
	}
}

// Used reports whether a call of the messages has this ID.
func (s *Sent) Used(id string) bool { return s.calls[id] }
