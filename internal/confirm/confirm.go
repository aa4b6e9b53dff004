// Package confirm decides whether a proposed change or command may happen. It
// guarantees that every question gets exactly one answer, that the answer is
// bound to the bytes that were asked about, that after Ask has returned no
// question is left on any surface, and that no answer at all means no.
package confirm

import (
	"context"
	"errors"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Request is one question. Exactly one of Change, Plan, Command, Read and Save is set.
type Request struct {
	ID   string // unique in the process; answers are bound to it
	Tool string // the tool that asks
	// Description is what the model said before the call, 200 characters at most.
	Description string
	Batch       Batch
	// Notes are remarks that the reviewer must see: a match that was not exact,
	// hidden characters in added lines, a protected path.
	Notes []caution.Note
	// Force says that a person has to look: a protected path, a match that was
	// not exact, hidden characters. No mode but bypass and no earlier "yes for
	// this session" answers such a request, and an answer to it grants nothing.
	Force bool

	Change  *workspace.Change
	Plan    *Plan
	Command *Command
	Read    *Read
	Save    *Save

	// ByUser says that a command of the user's asks, and not the turn that runs.
	ByUser bool

	// Alone is closed when nobody else is asked any more. A reviewer whose surface is
	// not there has to give up in the end. Every reviewer has its own, which the
	// controller sets.
	Alone <-chan struct{}
}

// Batch places a request among the calls of one answer.
type Batch struct {
	ID    string
	Index int // 0-based
	Total int
	// Calls says what each of the calls is about, in a line for people. What those
	// that are still to come will propose is not computed yet.
	Calls []string
	// Done says what came of those before, in a line for people: "+3 −1", "declined".
	Done []string
}

// Plan is a change of several files at once, as an undo would make it. An approval
// is of exactly these bytes, less the files that Verdict.Except names.
type Plan struct {
	Title   string // what it does, for people
	Changes []workspace.Change
}

// Command is a command line to be run by a shell.
type Command struct {
	Line       string
	Dir        string // absolute
	Timeout    time.Duration
	Background bool
}

// Read is a request to read a file outside every root.
type Read struct {
	Path string // absolute, resolved
}

// Save is a request to have a file saved that has unsaved changes in the user's
// editor.
type Save struct {
	Path   string // absolute, resolved
	Name   string // relative to the root, for people
	Editor string // what people call it
}

// Decision is the outcome of a question. The zero value is Reject.
type Decision int

// The outcomes.
const (
	Reject Decision = iota
	Approve
)

// Verdict is an answer.
type Verdict struct {
	Decision Decision
	// Text is the final text of a change, where the reviewer may have edited it;
	// nil means exactly Request.Change.After.
	Text *string
	// Unsure, if not empty, says why an approval of Text is none yet: nobody can tell
	// that Text was meant for this change. Everybody is asked once more, with Text as
	// the proposal.
	Unsure string
	// Except are the files of a plan, by their index in Plan.Changes, that are to be
	// left as they are.
	Except []int
	// Feedback is the reviewer's words for the model: why not, or what to mind.
	Feedback string
	Comments []Comment
	// Session asks to answer alike for the rest of the session (see Policy.Grant).
	Session bool
	// By says who answered, for the transcript: "terminal", "VS Code",
	// "accept-edits mode".
	By string
	// Rule is set when a rule answered, and not a person.
	Rule bool
	// NoWay is set when nobody could be asked.
	NoWay bool
}

// Comment is a reviewer's remark on a line of the proposed text.
type Comment struct {
	Line int // 1-based, in the proposed text
	Text string
}

// ErrUndecided is returned by a Reviewer that went away without an answer. The
// question stays with the other reviewers.
var ErrUndecided = errors.New("no decision")

// Reviewer shows a question to a person and waits for the answer. When ctx
// ends, Review takes the question off its surface before it returns; it has a
// second for that. A Reviewer is never asked a second question before Review of
// the first has returned. An error of any kind leaves the question with the
// other reviewers.
type Reviewer interface {
	Review(ctx context.Context, req Request) (Verdict, error)
}

// Drafter is a Reviewer whose surface lets the person edit the proposal. When
// another reviewer approves without a text of its own, the draft on this
// surface is what the person meant: it is fetched, within a second, before the
// question is withdrawn. Draft runs while Review is waiting; edited is false if
// the text is still the one proposed. An error, or no answer within the second,
// says that there may be a draft which cannot be had; with edited set, that there
// is one. The approval then counts for nothing, and whoever gave it is asked
// again, with a note that says so: the next approval is of the proposal.
type Drafter interface {
	Draft(ctx context.Context, id string) (text string, edited bool, err error)
}

// Policy answers what a rule has settled, without a person.
type Policy interface {
	// Decide returns false if a person has to be asked. If that is so although the
	// person granted it before, the verdict's Feedback tells the person why.
	Decide(req Request) (Verdict, bool)
	// Grant remembers a person's "yes for this session" to req.
	Grant(req Request)
}
