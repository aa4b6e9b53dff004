package tools

import (
	"encoding/json"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
)

// Foreseen is a question that a call would ask.
type Foreseen struct {
	Request confirm.Request
	Judged  safecmd.Judgement // of a command
	// Trial is the question whether a command first runs in a copy, to the policy alone; nil if it
	// cannot, as Untried explains.
	Trial   *confirm.Request
	Untried string
	// Holds means that it waits for the next question if it only adds to the index of a repository there.
	Holds bool
	Apart bool // it sees nothing of the files, so that the changes of a turn need not be reviewed first
}

// foreseer is a tool whose questions are known before it is called.
type foreseer interface {
	foresee(args json.RawMessage) []Foreseen
}

// Foresee returns the questions that a call would ask the policy and a person, in order,
// without carrying it out. It takes files to exist and edits to apply: those of a call
// of long ago need not do so any more.
func (s *Set) Foresee(name string, args json.RawMessage) []Foreseen {
	if strings.HasPrefix(name, mcp.Prefix) {
		return s.foreseeServer(name, args)
	}
	t, ok := s.find(name).(foreseer)
	if !ok {
		return nil
	}
	return t.foresee(args)
}
