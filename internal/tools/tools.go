// Package tools holds the tools of a model: read, search, propose edits and run commands.
// It guarantees that no tool changes anything before the controller has approved it, that
// everything the model can learn from is in a Result (an error means that the turn cannot
// go on), and that results are bounded.
package tools

import (
	"context"
	"encoding/json"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// The parts of a call, for the callers of tools.
type (
	// Call is one call of a tool.
	Call = toolcall.Call
	// Budget holds the sub-agent of a call to the limits of the session.
	Budget = toolcall.Budget
	// Result is the result of a call.
	Result = toolcall.Result
	// Record is the part of a call that a session keeps for good.
	Record = toolcall.Record
	// Denied records the "no" of a person or a rule.
	Denied = toolcall.Denied
	// FileChange summarizes a committed change.
	FileChange = toolcall.FileChange
	// UnansweredError wraps an error of the Asker.
	UnansweredError = toolcall.UnansweredError
)

// Tool is one tool. Call returns an error only if the turn cannot go on, and ctx's error
// if ctx ended.
type Tool interface {
	Spec() llm.ToolSpec
	// Title describes a call for the user, with all of its text; args may be invalid.
	Title(args json.RawMessage) string
	Call(ctx context.Context, call Call) (Result, error)
}
