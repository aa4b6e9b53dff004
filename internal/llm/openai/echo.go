package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/openai/wire"
)

// reasoningKey names the field of each kind of reasoning.
var reasoningKey = [...]string{wire.Reasoning: "reasoning", wire.ReasoningContent: "reasoning_content"}

// echo collects the fields that the provider wants back with the answer.
type echo struct {
	source  string // the server and model, as in messageEncoder
	key     string // the field of the reasoning; empty if nothing is sent back
	text    strings.Builder
	details []*detail
	extra   json.RawMessage
}

// detail is an element of reasoning_details. The server sends it in pieces: texts grow,
// any other field keeps its last value.
type detail struct {
	fields map[string]json.RawMessage
	texts  map[string]*strings.Builder
}

func (e *echo) reasoning(key string, text []byte) {
	if key != "" {
		e.key = key
		e.text.Write(text)
	}
}

func (e *echo) add(c wire.Chunk) {
	for _, raw := range c.Details {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) == nil && fields != nil {
			e.addDetail(fields)
		}
	}
	if c.Extra != nil {
		e.extra = c.Extra
	}
}

func (e *echo) addDetail(fields map[string]json.RawMessage) {
	n := len(e.details)
	if n == 0 || !e.details[n-1].continuedBy(fields) {
		e.details = append(e.details, &detail{
			fields: map[string]json.RawMessage{}, texts: map[string]*strings.Builder{},
		})
		n++
	}
	e.details[n-1].add(fields)
}

func (d *detail) continuedBy(fields map[string]json.RawMessage) bool {
	return len(fields["index"]) > 0 && string(d.fields["index"]) == string(fields["index"]) &&
		string(d.fields["type"]) == string(fields["type"])
}

func (d *detail) add(fields map[string]json.RawMessage) {
	for key, value := range fields {
		var piece string
		grows := key == "text" || key == "summary" || key == "data"
		switch {
		case grows && json.Unmarshal(value, &piece) == nil && string(value) != "null":
			if d.texts[key] == nil {
				d.texts[key] = &strings.Builder{}
			}
			d.texts[key].WriteString(piece)
		case d.fields[key] == nil || string(value) != "null":
			d.fields[key] = value
		}
	}
}

func (d *detail) encode() json.RawMessage {
	for key, text := range d.texts {
		d.fields[key] = appendString(nil, text.String())
	}
	return object(d.fields)
}

// object returns what goes back to the provider, and its source. Plain reasoning only
// goes back with calls, unless the server demands more: the servers that ask for it want
// it until the calls are answered, and others refuse it.
func (e *echo) object(calls []llm.ToolCall) json.RawMessage {
	members := map[string]json.RawMessage{}
	switch {
	case len(e.details) > 0:
		list := []byte{'['}
		for i, d := range e.details {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, d.encode()...)
		}
		members["reasoning_details"] = append(list, ']')
	case len(calls) > 0 && e.text.Len() > 0:
		members[e.key] = appendString(nil, e.text.String())
	}
	if e.extra != nil {
		members[extraField] = e.extra
	}
	if len(members) > 0 || e.text.Len() > 0 || slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return c.Extra != nil }) {
		members[sourceKey] = appendString(nil, e.source)
	}
	return object(members)
}
