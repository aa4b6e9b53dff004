package llm

import (
	"encoding/json"
	"slices"
	"strings"
)

// Order holds the parts of an answer that only its provider can read, such as
// signed thinking, and their places among the texts and calls. The provider wants
// them back unchanged. Message.Extra carries it.
type Order struct {
	Wire  string      `json:"wire"`
	Model string      `json:"model"` // as the server knows it
	Parts []OrderPart `json:"parts"`
}

// OrderPart is one part of an answer; one of Opaque, Text and Call is set.
type OrderPart struct {
	Opaque json.RawMessage `json:"opaque,omitzero"` // as it came
	Text   int             `json:"text,omitzero"`   // so many bytes of the answer's text
	Phase  string          `json:"phase,omitzero"`  // of that text, as the server calls it
	Call   bool            `json:"call,omitzero"`   // its next call
}

// AddCall adds the place of the last of calls, the answer's so far. One that repeats an
// earlier call gets no place, because it is not kept; a different one with the same id gets
// a new id.
func (o *Order) AddCall(calls []ToolCall) {
	last := len(calls) - 1
	for _, earlier := range calls[:last] {
		switch c := &calls[last]; {
		case c.ID == "" || earlier.ID != c.ID:
		case earlier.Name == c.Name && earlier.Args == c.Args:
			return
		default:
			c.ID = NewCallID()
		}
	}
	o.Parts = append(o.Parts, OrderPart{Call: true})
}

// OrderKey is the member of Message.Extra that holds an Order.
const OrderKey = "order"

// Extra returns o in the form of Message.Extra; nil if nothing in it is opaque or has a phase.
func (o Order) Extra() json.RawMessage {
	for _, p := range o.Parts {
		if p.Opaque != nil || p.Phase != "" {
			extra, _ := json.Marshal(map[string]Order{OrderKey: o}) // of strings and valid JSON: it cannot fail
			return extra
		}
	}
	return nil
}

// Piece is a piece of an answer; one of Opaque, Text and Call is set.
type Piece struct {
	Opaque json.RawMessage
	Text   string
	Phase  string // see OrderPart
	Call   *ToolCall
}

// Pieces returns the pieces of an answer in their order, without blank texts.
// Opaque ones are left out, and the text comes first, unless the answer came over this wire, from this
// model, and is unchanged.
func (m Message) Pieces(wire, model string) []Piece {
	var extra map[string]Order
	if len(m.Extra) > 0 && json.Unmarshal(m.Extra, &extra) == nil {
		if o := extra[OrderKey]; o.Wire == wire && o.Model == model {
			if pieces, ok := o.pieces(m.Text(), m.Calls); ok {
				return tidy(pieces)
			}
		}
	}
	var pieces []Piece
	pieces = append(pieces, Piece{Text: m.Text()})
	for i := range m.Calls {
		pieces = append(pieces, Piece{Call: &m.Calls[i]})
	}
	return tidy(pieces)
}

// tidy drops blank texts, and reasoning that leads to nothing: servers refuse both.
func tidy(pieces []Piece) []Piece {
	pieces = slices.DeleteFunc(pieces, func(p Piece) bool {
		return p.Opaque == nil && p.Call == nil && strings.TrimSpace(p.Text) == ""
	})
	for len(pieces) > 0 && pieces[len(pieces)-1].Opaque != nil {
		pieces = pieces[:len(pieces)-1]
	}
	return pieces
}

// pieces divides text and calls; ok is false if they are not those of o.
func (o Order) pieces(text string, calls []ToolCall) (pieces []Piece, ok bool) {
	for _, p := range o.Parts {
		switch {
		case p.Opaque != nil:
			pieces = append(pieces, Piece{Opaque: p.Opaque})
		case p.Call && len(calls) > 0:
			pieces, calls = append(pieces, Piece{Call: &calls[0]}), calls[1:]
		case !p.Call && p.Text <= len(text):
			pieces, text = append(pieces, Piece{Text: text[:p.Text], Phase: p.Phase}), text[p.Text:]
		default:
			return nil, false
		}
	}
	return pieces, text == "" && len(calls) == 0
}
