package replay

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Past replays stored sessions. The zero value has replayed none.
type Past struct {
	Sessions      int
	Before, After Tally
	Skipped       []Skipped

	seen map[string]bool // calls, which a fork has in common with its origin
}

// Skipped is a session that was not replayed.
type Skipped struct {
	ID  string `json:"session"`
	Why string `json:"why"`
}

// Add replays the calls of a session, also the rewound ones, with the options before
// and after, whose Root it sets.
func (p *Past) Add(info archive.Info, conv archive.Conversation, before, after Options) (err error) {
	for _, root := range []**workspace.Root{&before.Root, &after.Root} {
		if *root, err = workspace.Open(info.Dir, workspace.Options{}); err != nil {
			p.Skip(info.ID, fmt.Errorf("its folder cannot be opened: %w", err))
			return nil
		}
		defer func() { err = errors.Join(err, (*root).Close()) }()
	}
	was, is := New(before), New(after)
	for _, c := range p.calls(info, conv) {
		p.Before.Add(was.Call(c.Name, json.RawMessage(c.Args)))
		p.After.Add(is.Call(c.Name, json.RawMessage(c.Args)))
	}
	p.Sessions++
	return nil
}

// Skip notes a session that cannot be replayed.
func (p *Past) Skip(id string, why error) {
	p.Skipped = append(p.Skipped, Skipped{id, why.Error()})
}

// calls returns the calls of a session that were not replayed yet.
func (p *Past) calls(info archive.Info, conv archive.Conversation) []llm.ToolCall {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	var all []llm.ToolCall
	for _, e := range conv.Entries {
		if e.Item == nil {
			continue
		}
		for _, c := range e.Item.Message.Calls {
			key := fmt.Sprint(info.Dir, "\x00", e.Item.N, "\x00", c.ID, "\x00", c.Name, "\x00", c.Args)
			if c.Problem == "" && (info.From == "" || !p.seen[key]) {
				all = append(all, c)
			}
			p.seen[key] = true
		}
	}
	return all
}
