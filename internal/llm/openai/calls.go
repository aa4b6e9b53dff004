package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/openai/wire"
)

// call is a tool call that is being received.
type call struct {
	id, name string
	args     strings.Builder
	garbled  bool
	extra    json.RawMessage
}

// callList puts the pieces of calls together. Servers name the call that a piece
// belongs to by index, by id, by both or not at all.
type callList struct {
	list  []*call
	index map[int]*call
}

func (l *callList) add(p wire.CallPart) *call {
	c := l.find(p)
	if c == nil {
		c = &call{}
		l.list = append(l.list, c)
	}
	if p.Index != nil {
		if l.index == nil {
			l.index = map[int]*call{}
		}
		l.index[*p.Index] = c
	}
	if c.id == "" {
		c.id = p.ID
	}
	if c.name == "" {
		c.name = p.Name
	}
	c.args.WriteString(p.Args)
	c.garbled = c.garbled || p.Garbled
	if p.Extra != nil {
		c.extra = object(map[string]json.RawMessage{extraField: p.Extra})
	}
	return c
}

// find returns the call that p continues; nil if p begins one.
func (l *callList) find(p wire.CallPart) *call {
	var c *call
	switch {
	case p.Index != nil:
		c = l.index[*p.Index]
		if c != nil && p.ID != "" && c.id != "" && p.ID != c.id {
			c = l.byID(p.ID) // the server gives every call the same index
		}
	case p.ID != "":
		c = l.byID(p.ID)
	case len(l.list) > 0:
		c = l.list[len(l.list)-1]
	}
	if c == nil || c.endsBefore(p) {
		return nil
	}
	return c
}

func (l *callList) byID(id string) *call {
	for _, c := range slices.Backward(l.list) {
		if c.id == id {
			return c
		}
	}
	return nil
}

// endsBefore reports whether p, which names a tool, begins a new call rather than
// repeating c's name.
func (c *call) endsBefore(p wire.CallPart) bool {
	if p.Name == "" || c.name == "" {
		return false
	}
	return p.ID == "" && p.Name != c.name || p.Args != "" && isObject(c.args.String())
}

// finish returns the calls in order. Calls of an answer that was cut off, and
// incomplete calls, carry a Problem. Duplicates are dropped; used reports whether an id
// is taken.
func (l *callList) finish(stop llm.StopReason, used func(id string) bool) []llm.ToolCall {
	var calls []llm.ToolCall
	taken := map[string]llm.ToolCall{}
	for _, c := range l.list {
		tc := c.finish(stop)
		first, twice := taken[tc.ID]
		if twice && tc.ID != "" && first.Name == tc.Name && first.Args == tc.Args {
			continue
		}
		if tc.ID == "" || twice || used(tc.ID) {
			tc.ID = llm.NewCallID()
		}
		if c.id != "" && !twice {
			taken[c.id] = tc
		}
		taken[tc.ID] = tc
		calls = append(calls, tc)
	}
	return calls
}

func (c *call) finish(stop llm.StopReason) llm.ToolCall {
	tc := llm.ParseCall(c.id, c.name, c.args.String(), stop)
	if c.garbled && tc.Problem == "" {
		tc.Args, tc.Problem = "{}", "the arguments hold bytes that are not valid Unicode text; send them again"
	}
	tc.Extra = c.extra
	return tc
}
