// Package tools holds what a model can do: read, search, propose edits and run
// commands. It guarantees that no tool changes anything before the controller
// has approved it, that whatever the model can learn from is in a Result (an
// error means that the turn cannot go on), and that results are bounded.
package tools

import (
	"context"
	"encoding/json"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// Call is one call of a tool.
type Call struct {
	ID   string
	Args json.RawMessage
	// Progress, if not nil, is given output while the tool works. It may be
	// called from another goroutine, but not after Call has returned.
	Progress    func(chunk string)
	Description string // see confirm.Request
	Batch       confirm.Batch
	Turn        string // groups the changes of one prompt for undo
}

// Result is what a call came to.
type Result struct {
	ForModel string // what the model is told; never empty
	ForUser  string // one line, or the lines of a list; costs no tokens
	Lines    int    // of a command's output
	Log      string // the file with all of that output, where ForModel lacks some
	Failed   bool
	Denied   *Denied
	Changes  []FileChange
	// Ran says that a command was run: what came of it belongs in the record of
	// what the session did.
	Ran bool
	// Stop ends the turn after this batch: the user said no without a comment.
	Stop   bool
	Record Record
	// Ended says of commands in the background that they have ended since the last
	// result, a line each.
	Ended []string
}

// Record is what a session keeps of a call for good, also when the conversation
// has no room for it any more. Nothing in it is cut.
type Record struct {
	What   string // the call: "Run " and the command, "Edit " and the file
	Result string // what came of it; empty: as ForUser says
	Words  string // what was said, and changed, by who approved or declined it
}

// Denied says that a person or a rule said no.
type Denied struct {
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
}

// FileChange sums up a committed change.
type FileChange struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Diff is the unified diff of what was committed, for the user.
	Diff string `json:"-"`
}

// Tool is one capability. Call returns an error only if the turn cannot go on;
// ctx ending is reported as ctx's error.
type Tool interface {
	Spec() llm.ToolSpec
	// Title describes a call in one line for the user; args may be invalid.
	Title(args json.RawMessage) string
	Call(ctx context.Context, call Call) (Result, error)
}
