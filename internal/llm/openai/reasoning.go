package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// sourceKey is the member of Message.Extra that names the server and model of an answer.
const sourceKey = "source"

// The fields that carry reasoning.
const (
	plainField    = "reasoning"
	thinkingField = "reasoning_content"
	detailsField  = "reasoning_details"
	extraField    = "extra_content" // signatures of Google's servers
)

// extra returns the fields beside text and calls in which an answer goes back, and
// whether it came from this server and model. Reasoning goes back to no other.
func (e messageEncoder) extra(m llm.Message) (fields map[string]json.RawMessage, own bool) {
	var source string
	stored := members(m.Extra, sourceKey, plainField, thinkingField, detailsField, extraField)
	_ = json.Unmarshal(stored[sourceKey], &source) // no string: not ours
	own = source == e.source
	fields = map[string]json.RawMessage{}
	if own {
		maps.Copy(fields, stored)
		delete(fields, sourceKey)
	}
	inAll := e.dialect&thinkingInAll != 0 && e.tools
	switch {
	case e.dialect&noThinking != 0:
		for _, key := range []string{plainField, thinkingField, detailsField} {
			delete(fields, key)
		}
	case inAll || e.dialect&thinkingWithCalls != 0 && len(m.Calls) > 0:
		text := ""
		if source == e.source {
			text = reasoningOf(m, stored)
		}
		delete(fields, plainField)
		fields[thinkingField] = appendString(nil, text)
	}
	return fields, own
}

// reasoningOf returns the reasoning of m as text.
func reasoningOf(m llm.Message, stored map[string]json.RawMessage) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == llm.ReasoningPart {
			b.WriteString(p.Text)
		}
	}
	for _, field := range []string{thinkingField, plainField} {
		if text := ""; b.Len() == 0 && json.Unmarshal(stored[field], &text) == nil {
			b.WriteString(text)
		}
	}
	if b.Len() > 0 {
		return b.String()
	}
	var details []struct {
		Text    string `json:"text"`
		Summary string `json:"summary"`
	}
	_ = json.Unmarshal(stored[detailsField], &details) // another form holds no text
	for _, d := range details {
		b.WriteString(d.Text + d.Summary)
	}
	return b.String()
}

// members returns the members of a JSON object with one of keys; none of other JSON.
func members(object json.RawMessage, keys ...string) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if len(object) == 0 || json.Unmarshal(object, &all) != nil {
		return nil
	}
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool { return !slices.Contains(keys, key) })
	return all
}
