package history

import (
	"fmt"
	"strconv"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// callIDs is the set of call ids in use.
type callIDs map[string]struct{}

func (c callIDs) has(id string) bool {
	_, ok := c[id]
	return ok
}

func (c callIDs) with(id string) callIDs {
	if c == nil {
		c = callIDs{}
	}
	c[id] = struct{}{}
	return c
}

// free returns id if no earlier answer used it, else a new id derived from it that
// neither an earlier answer nor taken has; it adds that to taken.
func (c callIDs) free(id string, taken map[string]bool) string {
	id = Valid(id)
	if id != "" && !c.has(id) {
		return id
	}
	base := id
	if base == "" {
		base = "call"
	}
	for n := len(c) + 1; ; n++ {
		if id = base + "_" + strconv.Itoa(n); !c.has(id) && !taken[id] {
			taken[id] = true
			return id
		}
	}
}

// admit returns an error if the calls of m cannot be added.
func (c callIDs) admit(m llm.Message) error {
	if len(m.Calls) > 0 && m.Role != llm.Assistant {
		return fmt.Errorf("calls in a message of role %q", m.Role)
	}
	seen := make(map[string]struct{}, len(m.Calls))
	for _, call := range m.Calls {
		_, now := seen[call.ID]
		if now || c.has(call.ID) || call.ID == "" {
			return fmt.Errorf("call id %q is empty or taken", call.ID)
		}
		if call.Name == "" || !isObject(call.Args) {
			return fmt.Errorf("call %q has no name or no arguments", call.ID)
		}
		seen[call.ID] = struct{}{}
	}
	return nil
}
