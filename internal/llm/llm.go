// Package llm holds the words that the program and a language model exchange,
// and Model, the one method that a provider has to offer. It guarantees that an
// answer is either whole or an error: a caller that sees a Delta with End set
// has the complete text and only complete, well-formed tool calls to run.
package llm

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"
)

// Role says who speaks in a Message.
type Role string

// The four roles of a chat.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolReply Role = "tool"
)

// PartKind says what a Part holds.
type PartKind string

// The kinds of content.
const (
	TextPart      PartKind = "text"
	ReasoningPart PartKind = "reasoning" // shown to the user, not part of the answer
	ImagePart     PartKind = "image"
)

// Part is one piece of a message's content.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitzero"`
	// Aside says that the program has added it: it is nothing that the user said.
	Aside bool `json:"aside,omitzero"`
	// Mime and Data are set for images only.
	Mime string `json:"mime,omitzero"`
	Data []byte `json:"data,omitzero"`
}

// Message is one entry of a conversation, as sent to a model and as stored.
type Message struct {
	Role  Role       `json:"role"`
	Parts []Part     `json:"parts,omitzero"`
	Calls []ToolCall `json:"calls,omitzero"`
	// CallID is set in a ToolReply: the call that it answers.
	CallID string `json:"call_id,omitzero"`
	// Extra is what the provider wants echoed beside the content (for example
	// reasoning_details); it is sent back as it came.
	Extra json.RawMessage `json:"extra,omitzero"`
}

// Text returns the text parts of m, joined. Reasoning is left out.
func (m Message) Text() string {
	if len(m.Parts) == 1 && m.Parts[0].Kind == TextPart {
		return m.Parts[0].Text
	}
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == TextPart {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Said returns what the user said in m: its text without what was added.
func (m Message) Said() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == TextPart && !p.Aside {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// TextMessage returns a message of one text part.
func TextMessage(r Role, text string) Message {
	return Message{Role: r, Parts: []Part{{Kind: TextPart, Text: text}}}
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Args is a JSON object. Where the model's own arguments were cut off or
	// malformed, Args is "{}" and Problem says what was wrong: such a call is
	// answered with an error and never run.
	Args    string `json:"args"`
	Problem string `json:"problem,omitzero"`
	// Extra is what the provider wants echoed with the call, as it came.
	Extra json.RawMessage `json:"extra,omitzero"`
}

// ToolSpec describes a tool to a model. Schema is a JSON Schema object.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Request is what a model is asked to continue.
//
// A provider may keep the encoded form of Messages between requests: a caller
// only ever appends to the slice that it sent before, or sends another slice.
type Request struct {
	System   string
	Messages []Message
	Tools    []ToolSpec
}

// Delta is one step of an answer. Exactly one field is set.
type Delta struct {
	Text      string
	Reasoning string
	Pending   *Pending // a tool call is being received
	Retry     *Retry   // the request failed and will be sent again
	End       *End     // the last step of a whole answer
}

// Pending is the progress of a tool call that is still being received; it is for
// display only.
type Pending struct {
	Name  string
	Bytes int
}

// Retry says that a request failed before any of the answer was delivered.
type Retry struct {
	Attempt int // the attempt that comes next, from 2
	Max     int
	Wait    time.Duration
	Reason  string // one line for the user
}

// StopReason says why a model ended its answer.
type StopReason string

// The reasons that a caller treats differently.
const (
	StopEnd    StopReason = "end"
	StopTools  StopReason = "tools"
	StopLength StopReason = "length" // cut off by the token limit: no call is run
	StopFilter StopReason = "filter"
)

// End closes a whole answer.
type End struct {
	Stop  StopReason
	Calls []ToolCall
	Usage Usage
	Extra json.RawMessage // see Message.Extra
}

// Usage counts tokens. Cached is the part of Input that the provider had cached.
type Usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cached_tokens"`
	// CostUSD is zero where the model's prices are not known.
	CostUSD float64 `json:"cost_usd,omitzero"`
	// Estimated is true where the provider reported no usage.
	Estimated bool `json:"estimated,omitzero"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached,
		CostUSD: u.CostUSD + v.CostUSD, Estimated: u.Estimated || v.Estimated,
	}
}

// Info describes a model to the user and to the limits of a session.
type Info struct {
	Name          string // provider/name, as the user writes it
	ContextWindow int64  // tokens; zero if not known
	// Images says that it is known to take images.
	Images bool
	// Free says that requests cost nothing, so that a CostUSD of zero is the truth.
	Free bool
}

// Model streams the answer to a request. The sequence ends after a Delta with
// End set, or after a non-nil error; breaking out of it cancels the request.
// Cancelling ctx ends it with ctx's error.
type Model interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Delta, error]
	Info() Info
}
