package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Many servers refuse a message without content.
const (
	noOutput = "(no output)" // of a tool
	noText   = "(no text)"   // of a person or a model
)

// appendMessage appends m as the protocol has it.
func appendMessage(dst []byte, m llm.Message) []byte {
	dst = append(dst, `{"role":"`...)
	dst = append(dst, m.Role...)
	dst = append(dst, '"')
	switch m.Role {
	case llm.ToolReply:
		dst = append(dst, `,"tool_call_id":`...)
		dst = appendString(dst, m.CallID)
		dst = appendContent(dst, m, noOutput)
	case llm.Assistant:
		if m.Text() != "" || len(m.Calls) == 0 {
			dst = appendContent(dst, llm.TextMessage(m.Role, m.Text()), noText)
		}
		dst = appendCalls(dst, m.Calls)
		dst = appendExtra(dst, m.Extra, "role", "content", "tool_calls")
	case llm.System, llm.User:
		dst = appendContent(dst, m, noText)
	}
	return append(dst, '}')
}

// appendContent appends text, or a list of parts where there are images.
func appendContent(dst []byte, m llm.Message, empty string) []byte {
	dst = append(dst, `,"content":`...)
	image := func(p llm.Part) bool { return p.Kind == llm.ImagePart }
	if m.Role != llm.User || !slices.ContainsFunc(m.Parts, image) {
		text := m.Text()
		if strings.TrimSpace(text) == "" {
			text = empty
		}
		return appendString(dst, text)
	}
	lead := byte('[')
	for _, p := range m.Parts {
		switch {
		case image(p):
			dst = append(append(dst, lead), `{"type":"image_url","image_url":{"url":"data:`...)
			dst = append(append(dst, p.Mime...), ";base64,"...)
			dst = base64.StdEncoding.AppendEncode(dst, p.Data)
			dst = append(dst, `"}}`...)
		case p.Kind == llm.TextPart && p.Text != "":
			dst = append(append(dst, lead), `{"type":"text","text":`...)
			dst = append(appendString(dst, p.Text), '}')
		default:
			continue
		}
		lead = ','
	}
	return append(dst, ']')
}

func appendCalls(dst []byte, calls []llm.ToolCall) []byte {
	if len(calls) == 0 {
		return dst
	}
	dst = append(dst, `,"tool_calls":`...)
	lead := byte('[')
	for _, c := range calls {
		args := c.Args
		if !isObject(args) {
			args = "{}"
		}
		dst = append(append(dst, lead), `{"id":`...)
		dst = appendString(dst, c.ID)
		dst = append(dst, `,"type":"function","function":{"name":`...)
		dst = appendString(dst, c.Name)
		dst = append(dst, `,"arguments":`...)
		dst = append(appendString(dst, args), '}')
		dst = append(appendExtra(dst, c.Extra, "id", "type", "function"), '}')
		lead = ','
	}
	return append(dst, ']')
}

// appendExtra appends the members of the object extra, but those that are ours.
func appendExtra(dst []byte, extra json.RawMessage, ours ...string) []byte {
	if len(extra) == 0 {
		return dst
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(extra, &members) != nil {
		return dst // not an object: nothing that could be echoed
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(ours, key) {
			continue
		}
		dst = append(appendString(append(dst, ','), key), ':')
		dst = append(dst, members[key]...)
	}
	return dst
}

// appendString appends s quoted; what is not UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error only says that something was replaced
	return dst
}

// isObject says whether s is one complete JSON object.
func isObject(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") && json.Valid([]byte(s))
}

// object returns members as a JSON object, nil if there are none.
func object(members map[string]json.RawMessage) json.RawMessage {
	if len(members) == 0 {
		return nil
	}
	var b bytes.Buffer
	lead := byte('{')
	for _, key := range slices.Sorted(maps.Keys(members)) {
		b.WriteByte(lead)
		b.Write(appendString(nil, key))
		b.WriteByte(':')
		b.Write(members[key])
		lead = ','
	}
	b.WriteByte('}')
	return b.Bytes()
}
