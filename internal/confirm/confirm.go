// Package confirm decides whether a proposed change or command may happen. It guarantees
// that every question gets exactly one answer, that the answer is bound to the bytes that
// were asked about, that no question is left on any surface after Ask has returned, and
// that no answer means no.
package confirm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
)

// Request is one question.
type Request struct {
	ID      string // unique in the process; answers are bound to it
	Tool    string // the asking tool
	Subject Subject
	// Origin is the sub-agent that asks, for people; empty for the conversation itself. It is
	// not sanitized.
	Origin string
	// Description is the model's text before the call, at most 200 characters.
	Description string
	Batch       Batch
	// Notes are remarks that the reviewer must see: an inexact match, hidden characters
	// in added lines, a protected path.
	Notes []caution.Note
	// Force means that a person has to look: at a protected path, an inexact match,
	// hidden characters. Only the bypass mode answers such a request without a person; an
	// earlier "yes for this session" does not, and an answer to it grants nothing.
	Force bool
	// Person means that no rule and no mode answers, not even the bypass mode: a hook of the
	// user's wants a person to look. Force is then set, too.
	Person bool
	// Offer is the permission rule that a person may make with the answer (see
	// Verdict.Always); nil if none is offered.
	Offer *Offer

	// Refused is the proposal for the same file that a person refused before, with words;
	// nil without one. The controller sets it.
	Refused *Refused

	// Check tries the Edits while the question is open; nil for none. The controller starts it
	// once no rule answers, and stops it with the answer.
	Check *Check

	// Later marks edits that a person can be asked about later, together with others, and
	// commands to try: if no rule decides them, the verdict has Later set, and nobody was asked.
	Later bool

	// ByUser marks a request from a user's command, made while a turn may be running.
	ByUser bool

	// Alone is closed when this reviewer is the only one left. Without a surface, it must
	// then give up after a while. The controller sets it, one for each reviewer.
	Alone <-chan struct{}
}

// About returns Description, after the sub-agent that asks, if one does.
func (r Request) About() string {
	if r.Origin == "" || r.Description == "" {
		return r.Origin + r.Description
	}
	return r.Origin + " – " + r.Description
}

// FileID returns the id of the question about one file of several.
func (r Request) FileID(i int) string { return fmt.Sprintf("%s.%d", r.ID, i+1) }

// Once reports whether an answer to r covers no other request.
func (r Request) Once() bool { return r.Force || r.Facts().Once }

// Batch gives a request's place among the calls of one model answer.
type Batch struct {
	ID    string
	Index int // 0-based
	Total int
	// Calls describes each call in one line for people. The proposals of later
	// calls are not known yet.
	Calls []string
	// Done gives the result of each earlier call in one line for people: "+3 −1",
	// "declined".
	Done []string
}

// Decision is the answer to a question. The zero value is Reject.
type Decision int

// The decisions.
const (
	Reject Decision = iota
	Approve
)

// The numbers of the answers to a question, wherever answers have numbers: in the terminal, in
// plain lines, and before the session. A number has no other meaning if its answer is not
// offered.
const (
	NumberYes = 1 + iota
	NumberAlways
	NumberNo
	NumberRule
)

// Terminal is Verdict.By of an answer in the terminal.
const Terminal = "terminal"

// Verdict is an answer.
type Verdict struct {
	Decision Decision
	// Mode is the name of the permission mode to go on in after the approval of a document,
	// which needs one; otherwise empty.
	Mode string
	// Answer is the answer to a choice: one of its options, or other words.
	Answer string
	// Unsure, if not empty, explains why an approval of an edited text does not count yet: it
	// may not have been meant for this change. The question is asked once more, of everybody,
	// with that text as the proposal.
	Unsure string
	// Except lists the files to leave alone, as indexes into Edits.Changes.
	Except []int
	// Texts has the final texts of those files that the reviewer edited, by index; a document
	// is the only file. The others are approved exactly as proposed.
	Texts map[int]string
	// Later is the request if nobody decided yet (see Request.Later), for the question that is
	// asked later.
	Later *Request
	// Feedback is the reviewer's words for the model: why not, or what to mind.
	Feedback string
	Comments []Comment
	// Session asks for the same answer for the rest of the session (see Policy.Grant).
	Session bool
	// Always is a rule that the person makes with an approval; nil without one.
	Always *Always
	// By names who answered, for the transcript: "terminal", "VS Code", "accept-edits
	// mode".
	By string
	// Rule is set if a rule answered, not a person.
	Rule bool
	// Check is set with Rule if the check of the proposal answered.
	Check bool
	// Guarded limits the approval of a command to its guarded form (see Command.ReadOnly).
	Guarded bool
	// Trial limits the approval of a command to a run in a copy (see Command.Trial).
	Trial bool
	// Unasked is set if nobody could be asked. AllowWith then lists the permission rules
	// that would have allowed the request, if any can.
	Unasked   bool
	AllowWith []string
}

// Edited returns the reviewer's text of the only file; nil if they left it as proposed.
func (v Verdict) Edited() *string {
	if text, ok := v.Texts[0]; ok {
		return &text
	}
	return nil
}

// Text returns the Texts of a verdict about one file.
func Text(text string) map[int]string { return map[int]string{0: text} }

// Offer is a permission rule that a person may change and make with an answer.
type Offer struct {
	Rule string // the narrowest useful one
	// Part is the command that the rule is for, if the line has others, which need none.
	Part string
	// Check returns nil if a rule may be made with the answer, or the reason for people.
	Check func(rule string) error
}

// Covers names the requests that the offered rule allows: all `go vet …`.
func (o Offer) Covers() string { return Covered(o.Rule) }

// Covered names the requests that a permission rule covers, as a person would. It returns other text unchanged.
func Covered(rule string) string {
	kind, of, _ := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
	switch {
	case of == "":
	case kind == "run" && strings.HasSuffix(of, " *"):
		return "all `" + strings.TrimSuffix(of, "*") + "…`"
	case kind == "run":
		return "`" + of + "`"
	case kind == "edit":
		return "edits of " + of
	case kind == "read":
		return "reading " + of
	case kind == "fetch":
		return "pages of " + of
	}
	return rule
}

// Always is a permission rule that a person made with an answer.
type Always struct {
	Rule string
	Term Term
}

// Term is how long a rule counts: until the session ends, unless a field is set.
type Term struct {
	Project bool // in this folder, also in later sessions
	Uses    int
	Time    time.Duration
}

// String describes t.
func (t Term) String() string {
	switch {
	case t.Project:
		return "this project"
	case t.Uses == 1:
		return "1 time"
	case t.Uses > 1:
		return fmt.Sprintf("%d times", t.Uses)
	case t.Time == time.Hour:
		return "1 hour"
	case t.Time > 0:
		return fmt.Sprintf("%d hours", t.Time/time.Hour)
	}
	return "this session"
}

// In describes t at the end of a sentence.
func (t Term) In() string {
	if t.Uses > 0 || t.Time > 0 {
		return "for " + t.String()
	}
	return "in " + t.String()
}

// Comment is a reviewer's remark on a line of the proposed text.
type Comment struct {
	File  int    // in a plan, the index of the file
	Line  int    // 1-based, in the proposed text
	Quote string // of a document: the line as the reviewer saw it
	Text  string
}

// OnPlan returns a comment on a line of a plan as a part of a prompt. It is safe to print if
// Text is. It leaves out a quote with a mention: the model wrote it, and in a prompt it would
// attach a resource as if the person had named that.
func (c Comment) OnPlan() string {
	if strings.Contains(c.Quote, " @") {
		return fmt.Sprintf("On line %d of the plan: %s", c.Line, c.Text)
	}
	return fmt.Sprintf("On line %d of the plan, %q: %s", c.Line, c.Quote, c.Text)
}

// ErrUndecided is returned by a Reviewer that left without an answer. The question stays
// with the other reviewers.
var ErrUndecided = errors.New("no decision")

// ErrRejected is returned by a Drafter for a file of a plan that the person rejected.
var ErrRejected = errors.New("rejected")

// ErrUnseen is returned by a Drafter with a text that the person typed on its surface, but
// that it no longer shows.
var ErrUnseen = errors.New("no longer shown")

// Reviewer shows a question to a person and waits for the answer. When ctx ends, Review
// takes the question off its surface, within a second, before it returns. A Reviewer is
// asked one question at a time. After any error the question stays with the other
// reviewers.
type Reviewer interface {
	Review(ctx context.Context, req Request) (Verdict, error)
}

// Refuser is a Reviewer that does not send a no at once, because it waits to see whether it was meant as
// one.
type Refuser interface {
	// Refused waits for that, and returns a no to the request with the id that the person had begun before
	// it was called; ok is false without one.
	Refused(ctx context.Context, id string) (v Verdict, ok bool)
}

// Drafter is a Reviewer whose surface lets the person edit the proposal. If another
// reviewer approves without a text of its own, the person meant the draft on this
// surface: the controller fetches it, within a second, before it withdraws the question.
// Draft is called while Review is waiting. An error, or no answer within a second, means that there may be a draft
// that was lost; with Edited set, that there is one. The approval then does not count:
// its reviewer is asked again, with a note that explains why, and the next approval is of
// the proposal. For the proposals of a model in a plan, Draft is called once for each file, by
// Request.FileID and at the same time; only then it may return ErrUnseen. With ErrUnseen, and
// for a file that the approval has another text for, everybody is asked again, with the drafts
// as the proposals.
type Drafter interface {
	Draft(ctx context.Context, id string) (Draft, error)
}

// Draft is the text on a surface, with the person's words beside it or with their answer
// there. The words also come with ErrRejected.
type Draft struct {
	Text     string
	Edited   bool // Text is not the proposal
	Feedback string
	Comments []Comment
}

// Policy answers requests by rule, without a person.
type Policy interface {
	// Decide returns false if a person has to be asked. If the person had granted the
	// request before, the verdict's Feedback explains why the grant does not cover it.
	Decide(req Request) (Verdict, bool)
	// Grant remembers a person's "yes for this session" to req.
	Grant(req Request)
}
