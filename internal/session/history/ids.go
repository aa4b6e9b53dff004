package history

import "strconv"

// callIDs are the ids of calls that are taken.
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

// free returns id if no earlier answer had it, else an id made from it that
// neither an earlier answer nor taken has; it is in taken then.
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
