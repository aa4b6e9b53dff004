// Package toolcall holds a call of a tool and its result, with the words for a failure, for a "no"
// and for changed files.
package toolcall

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// Call is one call of a tool.
type Call struct {
	ID   string
	Args json.RawMessage
	// Progress, if not nil, receives output while the tool works. It may be called from
	// another goroutine, but not after Call has returned.
	Progress func(chunk string)
	// Await, if not nil, means that the call runs ahead of its turn: it waits until the
	// calls before it have ended. A tool calls it before it asks anybody, or uses what
	// calls share.
	Await       func(ctx context.Context) error
	Description string // see confirm.Request
	Batch       confirm.Batch
	Turn        string // groups the changes of one prompt for undo
	Budget      Budget // of a call that delegates, else nil
}

// Budget holds the sub-agent of a call to the limits of the session. Its methods may be
// called from any goroutine until the call returns.
type Budget interface {
	// Allow returns an error if a limit forbids the next request. It may ask the person.
	Allow(ctx context.Context) error
	// Used counts a request. unpriced reports whether its cost is unknown.
	Used(ctx context.Context, u llm.Usage, unpriced bool)
}

// Result is the result of a call.
type Result struct {
	ForModel string // the text for the model; never empty
	ForUser  string // one line, or the lines of a list; costs no tokens
	// Pictures are the images of the result, which ForModel names.
	Pictures []llm.Part
	Rule     string // the rule that approved a command without a question; "" without one
	Lines    int    // of a command's output
	Log      string // the file with the full output if ForModel lacks some
	Failed   bool
	Denied   *Denied
	Changes  []FileChange
	// Ran means that a command was run, and its result belongs in the record of the
	// session.
	Ran bool
	// Plan is the plan that the person has accepted, as they left it: Markdown, for the user.
	Plan string
	// Answer, if not empty, is the answer to the prompt, and ends the turn after this batch: a
	// plan that nobody could be asked about.
	Answer string
	// Stop ends the turn after this batch because the user said no without a reason.
	Stop   bool
	Record Record
	// GoOn means that the answer to a review has something for the model to do.
	GoOn bool
	// Ended has a line for each background command that ended since the last result.
	Ended []string
	// Differs is a diff from the approved text to the one that the editor saved instead.
	Differs string
	// Task is the conversation of the sub-agent that the call began; nil without one.
	Task []llm.Message
	// Used counts the requests of that sub-agent.
	Used llm.Usage
	// TaskFailed and TaskRefused have the ids of the calls in Task that failed or were declined.
	TaskFailed, TaskRefused []string
	// Refused lists the calls of that sub-agent that were denied.
	Refused []Denied
}

// Record is the part of a call that a session keeps for good, even when the conversation
// has no room for it. Nothing in it is cut.
type Record struct {
	What   string // the call: "Run " and the command, "Edit " and the file
	Result string // the outcome; empty means ForUser
	Words  string // comments and changes by the reviewer
}

// Denied records the "no" of a person or a rule.
type Denied struct {
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
	// AllowWith lists the permission rules that would have allowed it, if nobody could be
	// asked and rules can.
	AllowWith []string `json:"allow_with,omitempty"`
}

// FileChange summarizes a committed change.
type FileChange struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	From    string `json:"moved_from,omitempty"` // the path before a move
	Deleted bool   `json:"deleted,omitempty"`
	// Diff is the unified diff of the committed change, for the user.
	Diff string `json:"-"`
}

// WaitTurn waits for the turn of the call.
func (c Call) WaitTurn(ctx context.Context) error {
	if c.Await == nil {
		return nil
	}
	return c.Await(ctx)
}

// Forbids reports whether the call that r settles the changes for must not happen.
func (r *Result) Forbids() bool { return r != nil && (r.Failed || r.Stop) }

// After adds the result of the review before the call, which may be nil, to r.
func (r *Result) After(settled *Result) {
	if settled == nil {
		return
	}
	r.ForModel = "Before it, the pending changes were reviewed. " + settled.ForModel + "\n\n" + r.ForModel
	r.Changes = append(settled.Changes, r.Changes...)
	r.Record.Words = strings.TrimPrefix(settled.Record.Words+"\n"+r.Record.Words, "\n")
}

// OrNone returns *r, or the zero Result for nil.
func (r *Result) OrNone() Result {
	if r == nil {
		return Result{}
	}
	return *r
}
