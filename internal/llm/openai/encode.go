package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	goopenai "github.com/sashabaranov/go-openai"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/llm/toolschema"
)

// Many servers refuse a message without content.
const (
	noOutput = "(no output)" // of a tool
	noText   = "(no text)"   // of a user or a model
)

// follows is the remark in the place of an image in a result, which has only text in this
// protocol.
const follows = "(an image, shown after the results)"

// shown explains the images before it.
const shown = "(These are the images of the results above, in their order.)"

// messageEncoder encodes the messages of one request.
type messageEncoder struct {
	dialect dialect
	tools   bool              // whether the request offers tools
	parts   bool              // whether prompts and results are lists of parts, which can carry a cache marker
	source  string            // the server and model: only their own answers keep their reasoning
	ids     map[string]string // the name of each call, by its id
}

// append appends m in go-openai's encoding, followed by the provider's own fields.
func (e messageEncoder) append(dst []byte, m llm.Message) []byte {
	msg := e.message(m)
	if e.parts && m.Role != llm.Assistant {
		return appendInParts(dst, msg)
	}
	dst = openObject(appendJSON(dst, msg))
	if msg.Role == string(llm.Assistant) && msg.Content == "" && e.dialect&emptyContent != 0 {
		dst = append(dst, `,"content":""`...) // go-openai leave it out
	}
	if m.Role == llm.Assistant {
		extra, own := e.extra(m)
		dst = e.appendCalls(dst, m.Calls, own)
		dst = appendExtra(dst, extra)
	}
	return append(dst, '}')
}

// message returns m as go-openai has it, without calls.
func (e messageEncoder) message(m llm.Message) goopenai.ChatCompletionMessage {
	msg := goopenai.ChatCompletionMessage{Role: string(m.Role)}
	switch m.Role {
	case llm.ToolReply:
		msg.ToolCallID = e.id(m.CallID)
		remark := follows
		if e.dialect&noImages != 0 {
			remark = remote.UnseenImage
		}
		msg.Content = textOf(withoutImages(m, remark), noOutput)
		if e.dialect&namedResults != 0 {
			msg.Name = e.ids[m.CallID]
		}
	case llm.Assistant:
		empty := noText
		if len(m.Calls) > 0 {
			empty = "" // calls need no text, and a blank one would be words put into the model's mouth
		}
		msg.Content = textOf(m, empty)
	case llm.User:
		if e.dialect&noImages != 0 {
			m = withoutImages(m, remote.UnseenImage)
		}
		if msg.MultiContent = partsOf(m); msg.MultiContent == nil {
			msg.Content = textOf(m, noText)
		}
	case llm.System:
		msg.Content = textOf(m, noText)
		if e.dialect&developer != 0 {
			msg.Role = "developer"
		}
	}
	return msg
}

// id returns a call's id in a form that the server accepts.
func (e messageEncoder) id(id string) string {
	switch {
	case e.dialect&shortIDs != 0:
		return llm.NineLetters(id)
	case e.dialect&limitedIDs != 0:
		return llm.SafeID(id, 40)
	}
	return id // some models read names in their own ids, functions.read_file:0, and proxies keep signatures there
}

// partsEnd ends a message of appendInParts; a cache marker goes before it.
const partsEnd = "}]}"

// appendInParts appends msg with its content last, as a list of parts.
func appendInParts(dst []byte, msg goopenai.ChatCompletionMessage) []byte {
	parts := msg.MultiContent
	if parts == nil {
		parts = []goopenai.ChatMessagePart{{Type: goopenai.ChatMessagePartTypeText, Text: msg.Content}}
	}
	msg.Content, msg.MultiContent = "", nil
	dst = append(openObject(appendJSON(dst, msg)), `,"content":`...)
	return append(appendJSON(dst, parts), '}')
}

// withoutImages returns m with the remark in the place of each image.
func withoutImages(m llm.Message, remark string) llm.Message {
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		if p.Kind == llm.ImagePart {
			m.Parts[i] = llm.Part{Kind: llm.TextPart, Text: remark}
		}
	}
	return m
}

// textOf returns the text of m, or empty if m has no text.
func textOf(m llm.Message, empty string) string {
	text := m.Text()
	if strings.TrimSpace(text) == "" {
		return empty
	}
	return text
}

// partsOf returns the parts of a message with images; nil if it has none.
func partsOf(m llm.Message) []goopenai.ChatMessagePart {
	if !m.Shows() {
		return nil
	}
	var parts []goopenai.ChatMessagePart
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.ImagePart:
			parts = append(parts, goopenai.ChatMessagePart{
				Type:     goopenai.ChatMessagePartTypeImageURL,
				ImageURL: &goopenai.ChatMessageImageURL{URL: "data:" + p.Mime + ";base64," + base64.StdEncoding.EncodeToString(p.Data)},
			})
		case p.Kind == llm.TextPart && p.Text != "":
			parts = append(parts, goopenai.ChatMessagePart{Type: goopenai.ChatMessagePartTypeText, Text: p.Text})
		}
	}
	return parts
}

// images returns the bytes of the images in the encoded form of m.
func (e messageEncoder) images(m llm.Message) int {
	n := 0
	for _, p := range m.Parts {
		if p.Kind == llm.ImagePart && m.Role == llm.User && e.dialect&noImages == 0 {
			n += base64.StdEncoding.EncodedLen(len(p.Data))
		}
	}
	return n
}

// unsigned is the signature that Google documents for calls of other models.
const unsigned = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// appendCalls appends calls, with the provider's own fields if it made them.
func (e messageEncoder) appendCalls(dst []byte, calls []llm.ToolCall, own bool) []byte {
	for i, c := range calls {
		if i == 0 {
			dst = append(dst, `,"tool_calls":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = openObject(appendJSON(dst, goopenai.ToolCall{
			ID: e.id(c.ID), Type: goopenai.ToolTypeFunction, Function: goopenai.FunctionCall{Name: c.Name, Arguments: c.Object()},
		}))
		var extra map[string]json.RawMessage
		if own {
			extra = members(c.Extra, extraField)
		}
		if i == 0 && len(extra) == 0 && e.dialect&signedCalls != 0 { // a server signs the first call of an answer only
			extra = map[string]json.RawMessage{extraField: json.RawMessage(unsigned)}
		}
		dst = appendExtra(dst, extra)
		dst = append(dst, '}')
	}
	if len(calls) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// forms are the forms of schemas, and the most characters of a description, by a part of the addresses of the servers
// that want them.
var forms = []struct {
	address     string
	form        func(json.RawMessage) json.RawMessage
	description int
}{
	{"googleapis.com/", toolschema.Typed, 0},
	{"api.moonshot.", toolschema.Typed, 0},
	{"api.kimi.com/", toolschema.Typed, 0},
	{"api.fireworks.ai/", toolschema.Typed, 0},
	{"api.x.ai/", toolschema.Unbounded, 0},
	{".openai.azure.com/", nil, 1024},
}

// appendTool appends the description of a tool, as the server at source takes it.
func appendTool(dst []byte, s llm.ToolSpec, source string) []byte {
	schema := s.ObjectSchema()
	for _, f := range forms {
		if !strings.Contains(source, f.address) {
			continue
		}
		if f.form != nil {
			schema = f.form(schema)
		}
		if f.description > 0 {
			s.Description = clip.Runes(s.Description, f.description)
		}
	}
	return appendJSON(dst, goopenai.Tool{
		Type:     goopenai.ToolTypeFunction,
		Function: &goopenai.FunctionDefinition{Name: s.Name, Description: s.Description, Parameters: schema},
	})
}

// appendJSON appends v, which is one of go-openai's types and can always be encoded. It
// omits white space and escapes only what it must.
func appendJSON(dst []byte, v any) []byte {
	b, err := jsonv2.Marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err))
	}
	return append(dst, b...)
}

// openObject removes the end of an object, so that fields can be added.
func openObject(dst []byte) []byte { return dst[:len(dst)-1] }

// appendExtra appends the members of an object, sorted.
func appendExtra(dst []byte, members map[string]json.RawMessage) []byte {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		dst = append(appendString(append(dst, ','), key), ':')
		dst = append(dst, members[key]...)
	}
	return dst
}

// appendString appends s quoted; invalid UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error only reports the replacement
	return dst
}

// isObject reports whether s is one complete JSON object.
func isObject(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") && json.Valid([]byte(s))
}

// object returns members as a JSON object; nil without members.
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
