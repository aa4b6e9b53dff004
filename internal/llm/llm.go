// Package llm defines the messages exchanged with a language model, and Model, the
// interface of a provider. It guarantees that an answer is either complete or an error:
// a caller that sees a Delta with End set has the complete text and only complete,
// well-formed tool calls.
package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"
)

// Role is the author of a Message.
type Role string

// The four roles of a chat.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolReply Role = "tool"
)

// PartKind is the kind of a Part.
type PartKind string

// The kinds of content.
const (
	TextPart      PartKind = "text"
	ReasoningPart PartKind = "reasoning" // shown to the user, not part of the answer
	ImagePart     PartKind = "image"
)

// Part is a piece of a message's content.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitzero"`
	// Aside reports whether the program added the part; the user did not write it.
	Aside bool `json:"aside,omitzero"`
	// Mime and Data are set for images only.
	Mime string `json:"mime,omitzero"`
	Data []byte `json:"data,omitzero"`
}

// Message is an entry of a conversation, as sent to a model and as stored.
type Message struct {
	Role  Role       `json:"role"`
	Parts []Part     `json:"parts,omitzero"`
	Calls []ToolCall `json:"calls,omitzero"`
	// CallID is set in a ToolReply: the call that it answers.
	CallID string `json:"call_id,omitzero"`
	// Extra holds fields that the provider wants back unchanged, for example
	// reasoning_details.
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

// Shows reports whether m has images.
func (m Message) Shows() bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind == ImagePart })
}

// Reasoning returns the reasoning of m.
func (m Message) Reasoning() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == ReasoningPart {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// UserText returns the text that the user wrote: the text of m without asides.
func (m Message) UserText() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == TextPart && !p.Aside {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Equal reports whether m and n are sent in the same form. Strings that were
// copied with their message are compared by address, which takes no time.
func (m Message) Equal(n Message) bool {
	return m.Role == n.Role && m.CallID == n.CallID && bytes.Equal(m.Extra, n.Extra) &&
		slices.EqualFunc(m.Parts, n.Parts, func(x, y Part) bool {
			return x.Kind == y.Kind && x.Text == y.Text && x.Mime == y.Mime && bytes.Equal(x.Data, y.Data)
		}) &&
		slices.EqualFunc(m.Calls, n.Calls, func(x, y ToolCall) bool {
			return x.ID == y.ID && x.Name == y.Name && x.Args == y.Args && bytes.Equal(x.Extra, y.Extra)
		})
}

// TextMessage returns a message of one text part.
func TextMessage(r Role, text string) Message {
	return Message{Role: r, Parts: []Part{{Kind: TextPart, Text: text}}}
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Args is a JSON object. If the model's arguments were cut off or malformed, Args
	// is "{}" and Problem explains why: such a call is answered with an error and never
	// run.
	Args    string `json:"args"`
	Problem string `json:"problem,omitzero"`
	// Extra holds fields that the provider wants back with the call, unchanged.
	Extra json.RawMessage `json:"extra,omitzero"`
}

// ToolSpec describes a tool to a model. Schema is a JSON Schema object.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage
	// Reads reports whether calls change nothing, so that several may run at a time.
	Reads bool
	// Delegates reports whether each call is the work of a sub-agent. Several may run at a
	// time, too.
	Delegates bool
	// Foreign reports whether another program wrote the description, so that a provider may
	// refuse it.
	Foreign bool
}

// Equal reports whether s and t are sent in the same form.
func (s ToolSpec) Equal(t ToolSpec) bool {
	return s.Name == t.Name && s.Description == t.Description && bytes.Equal(s.Schema, t.Schema)
}

// Request is a request to continue a conversation.
//
// A provider may cache the encoding of Messages between requests: a caller only appends
// to the slice that it sent before, or sends another slice.
type Request struct {
	Session  string // an id, the same for all requests of a conversation; may be empty
	System   string
	Messages []Message
	Tools    []ToolSpec
	Effort   string // how much to think: low, medium, high …; empty: as configured
	Offline  bool   // the server may not search the web by itself
	// Answer is the JSON Schema of the answer after the last call; nil for one in words. A server
	// that does not know such answers gets the request without it.
	Answer json.RawMessage
}

// Delta is one step of an answer. Exactly one field is set.
type Delta struct {
	Text      string
	Reasoning string
	Thinking  bool     // the model begins to reason; it may send no text of it
	Pending   *Pending // a tool call is being received
	Notice    string   // for the user: the parts that the request leaves out, the searches of the server
	Retry     *Retry   // the request failed and will be sent again; the deltas so far are void
	End       *End     // the last step of a whole answer
}

// Pending is the progress of a tool call that is being received, for display only.
type Pending struct {
	Name  string
	Bytes int
}

// Retry announces another attempt after a request that failed. The answer begins anew:
// text, reasoning and pending calls delivered before it are void.
type Retry struct {
	Attempt int // number of the next attempt, from 2
	Max     int
	Wait    time.Duration
	Reason  string // one line for the user
}

// StopReason is why a model ended its answer.
type StopReason string

// The reasons that callers handle differently.
const (
	StopEnd    StopReason = "end"
	StopTools  StopReason = "tools"
	StopLength StopReason = "length" // cut off by the token limit: no call is run
	StopFilter StopReason = "filter"
)

// End closes a complete answer.
type End struct {
	Stop  StopReason
	Calls []ToolCall
	Usage Usage
	Extra json.RawMessage // see Message.Extra
	// Written is how many bytes at the end of the answer's text are Calls, which the
	// model wrote there.
	Written int
	// NoReason reports whether the server gave no reason for the end, so that the end of
	// the text may be missing.
	NoReason bool
	// Fault explains a call that the model wrote into its text and that cannot be read.
	Fault string
	// Quoted reports whether the answer's text ends with a call that other text quotes, so
	// that it was not read.
	Quoted bool
}

// Usage counts tokens. Cached is the part of Input that the provider had cached,
// Written the part that it put into its cache, and WrittenHour the part of that which it
// keeps for an hour.
type Usage struct {
	Input       int64 `json:"input_tokens"`
	Output      int64 `json:"output_tokens"`
	Cached      int64 `json:"cached_tokens"`
	Written     int64 `json:"cache_written_tokens,omitzero"`
	WrittenHour int64 `json:"cache_written_hour_tokens,omitzero"`
	Searches    int64 `json:"web_searches,omitzero"` // of the web, by the server, in Input and CostUSD
	// CostUSD is zero if the model's prices are unknown.
	CostUSD float64 `json:"cost_usd,omitzero"`
	// SavedUSD is the saving by the provider's cache; less than zero if little was read
	// again, and zero if the model's prices are unknown.
	SavedUSD float64 `json:"saved_usd,omitzero"`
	// Estimated reports whether the provider reported no usage.
	Estimated bool `json:"estimated,omitzero"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached, Written: u.Written + v.Written,
		WrittenHour: u.WrittenHour + v.WrittenHour, Searches: u.Searches + v.Searches,
		CostUSD: u.CostUSD + v.CostUSD, SavedUSD: u.SavedUSD + v.SavedUSD, Estimated: u.Estimated || v.Estimated,
	}
}

// Info describes a model to the user and to the limits of a session.
type Info struct {
	Name          string // provider/name, as the user writes it
	ContextWindow int64  // tokens; zero if not known
	// Images reports whether the model is known to take images.
	Images bool
	// EchoesReasoning reports whether the reasoning of every answer goes back, not only that
	// in Message.Extra.
	EchoesReasoning bool
	// NoEffort reports whether the model is known to take no Request.Effort.
	NoEffort bool
	Effort   string // the configured one; empty: the model's own
	// Free reports whether requests cost nothing, so that a CostUSD of zero is correct.
	Free bool
	// InputUSD is the price of a million tokens of input that are not in the provider's
	// cache; zero if it is unknown.
	InputUSD float64
}

// Model streams the answer to a request. The sequence ends after a Delta with
// End set, or after a non-nil error; breaking out of it cancels the request.
// Cancelling ctx ends it with ctx's error.
type Model interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Delta, error]
	Info() Info
}
