package ide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// question is a pending question.
type question struct {
	req    confirm.Request
	change workspace.Change // the file to show: that of req, or the text of a document
	// whole is the id of the question about several files that this one is a part of; empty
	// for a question of its own.
	whole string
	// claims carries the terminal's claims and releases of the question.
	claims chan claim
	ended  chan struct{} // closed when the question is over

	mu       sync.Mutex // guards the fields below
	proposal string     // shown in the editor
	serial   int        // number of times the proposal was replaced
	draft    client.DraftChange
	asked    *asked // the current diff; nil before the first

	// misfits counts the answers with the text of another file, refused explains the
	// last. The goroutine of Review owns both.
	misfits int
	refused string
	// problem explains why the rule of the last answer was not made. The goroutine of Review
	// owns it.
	problem string
}

// asked is an open diff.
type asked struct {
	tab    string
	over   chan struct{} // closed once out is set
	result opened        // valid after over is closed
}

// claim takes a question for the terminal, or releases it with a new proposal.
type claim struct {
	taken bool
	text  string
	// done receives the editor's draft once the editor no longer shows the question.
	done chan claimed
}

// claimed is the editor's draft of a claimed question.
type claimed struct {
	text   string
	edited bool
}

// id returns the editor's id of the question. It survives reconnections, so that the
// editor takes its own diff up again.
func (q *question) id() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.serial == 0 {
		return q.req.ID
	}
	return fmt.Sprintf("%s~%d", q.req.ID, q.serial)
}

// isPlan reports whether the question is about a text that nobody writes to a file.
func (q *question) isPlan() bool {
	_, ok := q.req.Subject.(*confirm.Document)
	return ok
}

// noted returns the id of the question that notes on this one belong to.
func (q *question) noted() string { return cmp.Or(q.whole, q.req.ID) }

// kept returns the last text that the editor reported for the draft; nil without one.
func (q *question) kept() *string { return q.edited().Text }

func (q *question) edited() client.DraftChange {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.draft
}

// replace sets another proposal.
func (q *question) replace(text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.proposal, q.draft = text, client.DraftChange{}
	q.serial++
}

// replaced reports whether the editor shows another proposal than the terminal did at first.
func (q *question) replaced() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.serial > 0
}

// reviews holds the pending questions by id.
type reviews struct {
	mu  sync.Mutex
	all map[string]*question
	// last ended last; their answers may not have been processed yet.
	last []*question
}

// begin adds a question. whole is the id of the one that it is a part of, or empty.
func (r *reviews) begin(req confirm.Request, c workspace.Change, whole string) *question {
	q := &question{req: req, change: c, whole: whole, claims: make(chan claim), ended: make(chan struct{}), proposal: c.After}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]*question{}
	}
	r.all[req.ID] = q
	return q
}

func (r *reviews) end(all ...*question) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = all
	for _, q := range all {
		delete(r.all, q.req.ID)
		close(q.ended)
	}
}

// get returns the question with the given id, even if it has just ended.
func (r *reviews) get(id string) *question {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q := r.all[id]; q != nil {
		return q
	}
	for _, q := range r.last {
		if q.req.ID == id {
			return q
		}
	}
	return nil
}

// typed returns the names of the files of the question whole whose drafts are kept.
func (r *reviews) typed(whole string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, q := range r.all {
		if q.whole == whole && q.kept() != nil {
			names = append(names, q.change.Name)
		}
	}
	slices.Sort(names)
	return names
}

// shownAs returns the question with the given editor's id.
func (r *reviews) shownAs(id string) *question {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.all {
		if q.id() == id {
			return q
		}
	}
	return nil
}

// crossed waits for an acceptance in the editor that crossed the terminal's yes,
// and returns its text: the person meant that one. If none comes, it returns err if
// maybe is set: there may be a draft.
func (q *question) crossed(ctx context.Context, maybe bool, err error) (confirm.Draft, error) {
	if out := q.accepted(ctx); out != nil {
		return q.toDraft(client.Draft{Text: out.Text, Edited: out.Text != q.change.After, Feedback: out.Feedback, Comments: out.Comments}), nil
	}
	if a := q.answer(); q.whole != "" && a != nil && a.err == nil && a.outcome.Kind == client.Rejected {
		return q.toDraft(client.Draft{Feedback: a.outcome.Feedback, Comments: a.outcome.Comments}), confirm.ErrRejected
	}
	edited := q.edited().Edited
	if !maybe && !edited { // nor was an edit reported meanwhile
		err = nil
	}
	return confirm.Draft{Edited: edited}, err
}

// toDraft converts the editor's draft.
func (q *question) toDraft(d client.Draft) confirm.Draft {
	return confirm.Draft{Text: d.Text, Edited: d.Edited, Feedback: clip.Bytes(d.Feedback, maxWords, " […]"), Comments: q.comments(d.Comments)}
}

// accepted returns the acceptance that the editor sent while the terminal answered, or nil
// if none has come when ctx ends.
func (q *question) accepted(ctx context.Context) *client.DiffOutcome {
	q.mu.Lock()
	a := q.asked
	q.mu.Unlock()
	if a == nil {
		return nil
	}
	select {
	case <-a.over:
	case <-ctx.Done():
		return nil
	}
	if a.result.err == nil && (a.result.outcome.Kind == client.Accepted || a.result.outcome.Kind == client.AlreadyWritten) {
		return &a.result.outcome
	}
	return nil
}

// answer returns the editor's answer to the current diff; nil without one.
func (q *question) answer() *opened {
	q.mu.Lock()
	a := q.asked
	q.mu.Unlock()
	if a == nil {
		return nil
	}
	select {
	case <-a.over:
		return &a.result
	default:
		return nil
	}
}

// send hands c to the review and waits until it is done.
func (q *question) send(ctx context.Context, c claim) claimed {
	ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
	defer cancel()
	c.done = make(chan claimed, 1)
	select {
	case q.claims <- c:
	case <-q.ended:
		return claimed{}
	case <-ctx.Done():
		return claimed{}
	}
	select {
	case got := <-c.done:
		return got
	case <-ctx.Done():
		return claimed{}
	}
}

// awaitRelease waits until the terminal releases a claimed question, and returns the
// new proposal.
func (q *question) awaitRelease(ctx context.Context, c claim) (string, error) {
	for c.taken {
		select {
		case c = <-q.claims:
			c.done <- claimed{}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return c.text, nil
}

// notes returns the remarks on the text shown in the editor.
func (q *question) notes() []caution.Note {
	c, text := q.change, q.text()
	if c.Delete || text == c.After {
		return q.req.Notes
	}
	return append(caution.Of(diff.Lines(c.Text, text), c.Text, text, c.Exists), caution.Given(q.req.Notes)...)
}

func (q *question) text() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.proposal
}

// opened is the result of an open diff.
type opened struct {
	outcome client.DiffOutcome
	err     error
}

// unclear reports whether the result may come from an editor that is quitting. Our own
// extension reports when a person has pressed a button.
func (o opened) unclear(l *link) bool {
	switch o.outcome.Kind {
	case client.Accepted, client.AlreadyWritten:
		return false
	case client.Rejected:
		return o.err == nil && (!l.ours() || o.outcome.Reason == "tab_closed")
	case client.Undecided:
	}
	return o.err == nil
}

// aborted reports whether a window of ours gave up its diffs, as one that closes does.
func (o opened) aborted() bool {
	var tool *client.ToolError
	return errors.As(o.err, &tool) && tool.Code == client.CodeAborted
}

// newDiff records a new diff of the question.
func (q *question) newDiff(tab string) *asked {
	a := &asked{tab: tab, over: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = a
	return a
}
