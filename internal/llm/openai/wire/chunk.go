// Package wire decodes the chunks that servers of chat completions really send, at a
// cost that does not depend on the length of the answer.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// Chunk is one event of an answer, in any dialect.
type Chunk struct {
	Text      string
	Reasoning string
	Calls     []CallPart
	Finish    string // empty until the model has ended
	Usage     *Usage
	Error     *remote.ServerError // the server gave up

	// Fields to send back with the answer, unchanged.
	ReasoningKey string // the field that Reasoning came in
	Details      []json.RawMessage
	Extra        json.RawMessage // extra_content
}

// CallPart is a piece of a tool call.
type CallPart struct {
	Index *int
	ID    string
	Name  string
	Args  string
	// Garbled reports whether the arguments had bytes or escapes that are not valid
	// Unicode.
	Garbled bool
	Extra   json.RawMessage // extra_content, unchanged
}

// Usage holds the tokens that the server counted. Cost is in USD; zero if unknown.
type Usage struct {
	Input, Output, Cached, Written int64
	Cost                           float64
}

// The types below are go-openai's, with the fields that it does not know beside them,
// and with those in place of its own that some servers send in another form.

type response struct {
	goopenai.ChatCompletionStreamResponse
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Groq    *groq           `json:"x_groq"`
	Error   json.RawMessage `json:"error"`
}

type groq struct {
	Usage *usage `json:"usage"`
}

type choice struct {
	goopenai.ChatCompletionStreamChoice
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"` // of a server that does not stream
	Error   json.RawMessage `json:"error"`
}

type delta struct {
	goopenai.ChatCompletionStreamChoiceDelta
	Content          content         `json:"content"`
	Reasoning        optionalString  `json:"reasoning"`
	ReasoningContent optionalString  `json:"reasoning_content"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	ToolCalls        []toolCall      `json:"tool_calls"`
	Extra            json.RawMessage `json:"extra_content"`
}

type toolCall struct {
	goopenai.ToolCall
	Function function        `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type function struct {
	goopenai.FunctionCall
	Arguments arguments `json:"arguments"`
}

// usage counts in floats, as some servers do.
type usage struct {
	goopenai.Usage
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
	Total      float64 `json:"total_tokens"`
	Details    *struct {
		Cached  float64 `json:"cached_tokens"`
		Written float64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit float64         `json:"prompt_cache_hit_tokens"`
	Written  float64         `json:"cache_creation_input_tokens"`
	Cost     json.RawMessage `json:"cost"`
}

// optionalString is a string; any other value counts as empty.
type optionalString string

// UnmarshalJSON implements json.Unmarshaler.
func (s *optionalString) UnmarshalJSON(raw []byte) error {
	*s = optionalString(stringOf(raw))
	return nil
}

// content is a string or a list of parts.
type content struct{ text, thoughts string }

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(raw []byte) error {
	*c = parseContent(raw)
	return nil
}

// arguments is text that holds JSON or, from some servers, the JSON itself.
type arguments struct {
	text    string
	garbled bool // see CallPart
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(raw []byte) error {
	*a = arguments{}
	switch {
	case !present(raw):
		return nil
	case raw[0] != '"':
		a.text = string(raw)
	default:
		a.text = stringOf(raw)
	}
	a.garbled = !utf8.Valid(raw) || raw[0] == '"' && strings.ContainsRune(a.text, utf8.RuneError) && !namesReplacement(raw)
	return nil
}

// Decode reads one event. It returns an error if the event is not JSON of the expected
// shape; an error that the server reports is in Chunk.Error.
func Decode(event []byte) (Chunk, error) {
	if len(event) > 0 && event[0] == '[' {
		return Chunk{Error: remote.ParseServerError(event)}, nil
	}
	var r response
	if err := unmarshal(event, &r); err != nil {
		return Chunk{}, fmt.Errorf("not an event of a chat completion: %w", err)
	}
	if failed(r.Error) {
		return Chunk{Error: remote.ParseServerError(event)}, nil
	}
	var c Chunk
	// Choices are parts of one answer: some servers number thoughts, text, calls and the
	// end as choices, and no request asks for alternatives.
	for _, choice := range r.Choices {
		if failed(choice.Error) {
			return Chunk{Error: remote.ParseServerError(slices.Concat([]byte(`{"error":`), choice.Error, []byte("}")))}, nil
		}
		c.addChoice(choice)
	}
	if r.Usage == nil && r.Groq != nil {
		r.Usage = r.Groq.Usage
	}
	c.Usage = r.Usage.counts()
	return c, nil
}

// unmarshal decodes event into r. A value of another type than go-openai declares is left
// out, unless an answer depends on it: some servers send times as fractions, or logprobs
// in a form of their own.
func unmarshal(event []byte, r *response) error {
	err := json.Unmarshal(event, r)
	if odd := (*json.UnmarshalTypeError)(nil); errors.As(err, &odd) {
		return json.Unmarshal(event, &essentials{})
	}
	return err
}

// essentials are the fields of an event that must have the declared type.
type essentials struct {
	Choices []struct {
		Index   int                 `json:"index"`
		Finish  string              `json:"finish_reason"`
		Delta   *essentialsOfChoice `json:"delta"`
		Message *essentialsOfChoice `json:"message"`
	} `json:"choices"`
	Usage *struct {
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
	} `json:"usage"`
}

type essentialsOfChoice struct {
	Refusal   string `json:"refusal"`
	ToolCalls []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (c *Chunk) addChoice(choice choice) {
	if finish := string(choice.FinishReason); finish != "null" {
		c.Finish = Finish(c.Finish, finish)
	}
	d := choice.Delta
	if d == nil {
		d = choice.Message
	}
	if d == nil {
		return
	}
	c.Text += d.Content.text + d.Refusal
	if key, text := d.reasoning(); text != "" {
		c.ReasoningKey = key
		c.Reasoning += text
	}
	if present(d.ReasoningDetails) {
		c.Details = append(c.Details, details(d.ReasoningDetails)...)
	}
	if present(d.Extra) {
		c.Extra = d.Extra
	}
	for _, call := range d.ToolCalls {
		c.Calls = append(c.Calls, call.part())
	}
}

// DetailsText returns the reasoning in Details that is text.
func (c *Chunk) DetailsText() string {
	var b strings.Builder
	for _, raw := range c.Details {
		var d struct{ Text, Summary optionalString }
		if json.Unmarshal(raw, &d) == nil {
			b.WriteString(string(d.Text) + string(d.Summary))
		}
	}
	return b.String()
}

// Finish returns the reason why an answer ended if a part of it ended by one reason and
// a later part by another: a part that just stops does not hide that one was cut off.
func Finish(first, later string) string {
	if first == "" || later != "" && strings.EqualFold(first, string(goopenai.FinishReasonStop)) {
		return later
	}
	return first
}

// parseContent reads content that is a string or a list of parts.
func parseContent(raw []byte) (c content) {
	if len(raw) == 0 || raw[0] != '[' {
		c.text = stringOf(raw)
		return c
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return c
	}
	for _, p := range parts {
		if p.Type == "thinking" {
			c.thoughts += parseContent(p.Thinking).text
		} else {
			c.text += p.Text
		}
	}
	return c
}

// reasoning returns the reasoning and the name of its field. Some servers send it in
// two fields; it counts once.
func (d *delta) reasoning() (key, text string) {
	switch {
	case d.ReasoningContent != "":
		return "reasoning_content", string(d.ReasoningContent)
	case d.Reasoning != "":
		return "reasoning", string(d.Reasoning)
	}
	return "", d.Content.thoughts
}

func details(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil // not a list: nothing to send back
	}
	return list
}

// part returns the piece of a call.
func (t toolCall) part() CallPart {
	p := CallPart{
		Index: t.Index, ID: t.ID, Name: t.Function.Name,
		Args: t.Function.Arguments.text, Garbled: t.Function.Arguments.garbled,
	}
	if present(t.Extra) {
		p.Extra = t.Extra
	}
	return p
}

// namesReplacement reports whether raw itself holds U+FFFD, so that a decoded U+FFFD
// does not stand for invalid bytes.
func namesReplacement(raw []byte) bool {
	return bytes.ContainsRune(raw, utf8.RuneError) || bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`))
}

func (u *usage) counts() *Usage {
	if u == nil || u.Prompt+u.Completion <= 0 {
		return nil
	}
	c := &Usage{Input: int64(u.Prompt), Output: int64(u.Completion), Cached: int64(u.CacheHit), Written: int64(u.Written)}
	if u.Details != nil {
		c.Cached = max(c.Cached, int64(u.Details.Cached))
		c.Written = max(c.Written, int64(u.Details.Written))
	}
	var cost float64
	if json.Unmarshal(u.Cost, &cost) == nil {
		c.Cost = cost
	}
	return c
}

// present reports whether a field was sent with a value.
func present(raw []byte) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// failed reports whether an error was sent, and not only its field.
func failed(raw []byte) bool {
	return present(raw) && string(raw) != `""` && string(raw) != "{}"
}

// stringOf returns the string that raw holds; empty if it holds something else.
func stringOf(raw []byte) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
