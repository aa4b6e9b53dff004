package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Chunk is one event of an answer, whatever dialect it came in.
type Chunk struct {
	Text      string
	Reasoning string
	Calls     []CallPart
	Finish    string // empty until the model has ended
	Usage     *Usage
	Error     *Error // the server gave up

	// What has to be echoed with the answer, as it came.
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
	// Garbled is true where Args held bytes or escapes that are no Unicode text.
	Garbled bool
	Extra   json.RawMessage // extra_content, as it came
}

// Usage is what the server counted. Cost is in USD, zero if it named none.
type Usage struct {
	Input, Output, Cached int64
	Cost                  float64
}

type rawChunk struct {
	Choices []rawChoice     `json:"choices"`
	Usage   *rawUsage       `json:"usage"`
	Groq    *rawGroq        `json:"x_groq"`
	Error   json.RawMessage `json:"error"`
}

type rawGroq struct {
	Usage *rawUsage `json:"usage"`
}

type rawChoice struct {
	Index   int       `json:"index"`
	Delta   *rawDelta `json:"delta"`
	Message *rawDelta `json:"message"` // of a server that does not stream
	Finish  string    `json:"finish_reason"`
}

type rawDelta struct {
	Content          json.RawMessage `json:"content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	Refusal          string          `json:"refusal"`
	ToolCalls        []rawCall       `json:"tool_calls"`
	Extra            json.RawMessage `json:"extra_content"`
}

type rawCall struct {
	Index    *int            `json:"index"`
	ID       string          `json:"id"`
	Function rawFunction     `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type rawFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type rawUsage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
	Details    *struct {
		Cached float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit float64         `json:"prompt_cache_hit_tokens"`
	Cost     json.RawMessage `json:"cost"`
}

// Decode reads one event. An error means that it is not JSON of the expected
// shape; an error that the server reports is in Chunk.Error.
func Decode(event []byte) (Chunk, error) {
	if len(event) > 0 && event[0] == '[' {
		return Chunk{Error: ParseError(event)}, nil
	}
	var raw rawChunk
	if err := json.Unmarshal(event, &raw); err != nil {
		return Chunk{}, fmt.Errorf("not an event of a chat completion: %w", err)
	}
	if present(raw.Error) {
		return Chunk{Error: ParseError(event)}, nil
	}
	var c Chunk
	for _, choice := range raw.Choices {
		if choice.Index == 0 {
			c.addChoice(choice)
		}
	}
	if raw.Usage == nil && raw.Groq != nil {
		raw.Usage = raw.Groq.Usage
	}
	c.Usage = raw.Usage.counts()
	return c, nil
}

func (c *Chunk) addChoice(choice rawChoice) {
	c.Finish = choice.Finish
	d := choice.Delta
	if d == nil {
		d = choice.Message
	}
	if d == nil {
		return
	}
	text, thoughts := contentText(d.Content)
	c.Text = text + d.Refusal
	c.ReasoningKey, c.Reasoning = d.reasoningText(thoughts)
	if present(d.ReasoningDetails) {
		c.Details = details(d.ReasoningDetails)
	}
	if present(d.Extra) {
		c.Extra = d.Extra
	}
	for _, call := range d.ToolCalls {
		c.Calls = append(c.Calls, call.part())
	}
}

// contentText reads content that is a string or a list of parts.
func contentText(raw json.RawMessage) (text, thoughts string) {
	if len(raw) == 0 || raw[0] != '[' {
		return stringOf(raw), ""
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", ""
	}
	for _, p := range parts {
		if p.Type == "thinking" {
			inner, _ := contentText(p.Thinking)
			thoughts += inner
		} else {
			text += p.Text
		}
	}
	return text, thoughts
}

// reasoningText returns the reasoning once, where a server sends it in two
// fields alike, and the field's name.
func (d *rawDelta) reasoningText(thoughts string) (key, text string) {
	if s := stringOf(d.ReasoningContent); s != "" {
		return "reasoning_content", s
	}
	if s := stringOf(d.Reasoning); s != "" {
		return "reasoning", s
	}
	return "", thoughts
}

func details(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil // not a list: nothing that could be echoed
	}
	return list
}

// part reads a piece of a call. Arguments are text that holds JSON, or JSON
// itself with some servers.
func (r rawCall) part() CallPart {
	p := CallPart{Index: r.Index, ID: r.ID, Name: r.Function.Name}
	if present(r.Extra) {
		p.Extra = r.Extra
	}
	args := r.Function.Arguments
	if !present(args) {
		return p
	}
	p.Garbled = !utf8.Valid(args)
	if args[0] != '"' {
		p.Args = string(args)
		return p
	}
	p.Args = stringOf(args)
	if strings.ContainsRune(p.Args, utf8.RuneError) && !namesReplacement(args) {
		p.Garbled = true
	}
	return p
}

// namesReplacement says whether raw itself holds U+FFFD: then it was not put
// there in place of something else.
func namesReplacement(raw []byte) bool {
	return bytes.ContainsRune(raw, utf8.RuneError) || bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`))
}

func (u *rawUsage) counts() *Usage {
	if u == nil || u.Prompt+u.Completion <= 0 {
		return nil
	}
	c := &Usage{Input: int64(u.Prompt), Output: int64(u.Completion), Cached: int64(u.CacheHit)}
	if u.Details != nil && u.Details.Cached > 0 {
		c.Cached = int64(u.Details.Cached)
	}
	var cost float64
	if json.Unmarshal(u.Cost, &cost) == nil {
		c.Cost = cost
	}
	return c
}

// present says whether a field was sent with a value.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// stringOf returns the string that raw is, empty if it is none.
func stringOf(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
