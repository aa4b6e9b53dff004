package ide

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// standing is a question that is being asked.
type standing struct {
	req confirm.Request
	// claims carries what the terminal wants: the question for itself, or back.
	claims chan claim
	ended  chan struct{} // closed when the question is over

	mu       sync.Mutex // guards what follows
	proposal string     // the text that is shown in the editor
	serial   int        // how many times the proposal was replaced
	draft    client.DraftChange
	asked    *asked // in an editor now; nil before the first time

	// misfits counts the answers with the text of another file; refused tells of the
	// last. They are of Review's goroutine.
	misfits int
	refused string
}

// asked is one open diff.
type asked struct {
	tab  string
	over chan struct{} // closed when it has come to out
	out  opened        // to be read after over is closed
}

// claim takes a question for the terminal, or gives it back with a new proposal.
type claim struct {
	taken bool
	text  string
	// done is given what the editor's draft was, once the editor no longer shows it.
	done chan claimed
}

// claimed is what was made of a proposal in the editor.
type claimed struct {
	text   string
	edited bool
}

// id is what the editor knows the question by. It stays the same over
// reconnections, so that the editor takes its own diff up again.
func (s *standing) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serial == 0 {
		return s.req.ID
	}
	return fmt.Sprintf("%s~%d", s.req.ID, s.serial)
}

func (s *standing) edited() client.DraftChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draft
}

// replace puts another proposal into the question.
func (s *standing) replace(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proposal, s.draft = text, client.DraftChange{}
	s.serial++
}

// reviews are the questions that stand, by id.
type reviews struct {
	mu  sync.Mutex
	all map[string]*standing
	// last is the one that ended last: its answer may not have been taken yet.
	last *standing
}

func (r *reviews) begin(req confirm.Request) *standing {
	s := &standing{req: req, claims: make(chan claim), ended: make(chan struct{}), proposal: req.Change.After}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]*standing{}
	}
	r.all[req.ID] = s
	return s
}

func (r *reviews) end(s *standing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, s.req.ID)
	r.last = s
	close(s.ended)
}

// get returns the question with the given id, which may have ended just now.
func (r *reviews) get(id string) *standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.all[id]; s != nil || r.last == nil || r.last.req.ID != id {
		return s
	}
	return r.last
}

// shownAs returns the question that an editor knows by id.
func (r *reviews) shownAs(id string) *standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.all {
		if s.id() == id {
			return s
		}
	}
	return nil
}

// crossed returns the text that was accepted in the editor at the same instant as
// in the terminal: it is what was meant. If there is none, err stands where there
// may be another draft.
func (s *standing) crossed(ctx context.Context, maybe bool, err error) (text string, edited bool, _ error) {
	if out := s.accepted(ctx); out != nil {
		return out.Text, out.Text != s.req.Change.After, nil
	}
	if !maybe {
		err = nil
	}
	return "", s.edited().Edited, err
}

// crossing is how long an answer of the editor's may take that was on its way
// when the terminal answered.
const crossing = 300 * time.Millisecond

// accepted returns what was accepted in the editor while the terminal answered;
// nil if nothing was.
func (s *standing) accepted(ctx context.Context) *client.DiffOutcome {
	s.mu.Lock()
	a := s.asked
	s.mu.Unlock()
	if a == nil {
		return nil
	}
	late := time.NewTimer(crossing)
	defer late.Stop()
	select {
	case <-a.over:
	case <-late.C:
		return nil
	case <-ctx.Done():
		return nil
	}
	if a.out.err == nil && (a.out.out.Kind == client.Accepted || a.out.out.Kind == client.AlreadyWritten) {
		return &a.out.out
	}
	return nil
}

// send hands c to the review and waits until it is done with it.
func (s *standing) send(ctx context.Context, c claim) claimed {
	ctx, cancel := context.WithTimeout(ctx, 2*withdrawing)
	defer cancel()
	c.done = make(chan claimed, 1)
	select {
	case s.claims <- c:
	case <-s.ended:
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

// awaitRelease waits until the terminal gives a claimed question back, and returns
// what it has made of the proposal.
func (s *standing) awaitRelease(ctx context.Context, c claim) (string, error) {
	for c.taken {
		select {
		case c = <-s.claims:
			c.done <- claimed{}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return c.text, nil
}

// notes returns the remarks on the text that the editor is shown.
func (s *standing) notes() []caution.Note {
	c, text := s.req.Change, s.text()
	if c.Delete || text == c.After {
		return s.req.Notes
	}
	return append(caution.Of(diff.Lines(c.Text, text), c.Text, text, c.Exists), caution.Given(s.req.Notes)...)
}

func (s *standing) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proposal
}

// opened is what an open diff came to.
type opened struct {
	out client.DiffOutcome
	err error
}

// unclear reports whether the outcome may be that of an editor which is quitting.
// Our own extension says when a person has pressed a button.
func (o opened) unclear(l *link) bool {
	switch o.out.Kind {
	case client.Accepted, client.AlreadyWritten:
		return false
	case client.Rejected:
		return o.err == nil && (!l.ours() || o.out.Reason == "tab_closed")
	case client.Undecided:
	}
	return o.err == nil
}

// ask remembers that the question is put to an editor.
func (s *standing) ask(tab string) *asked {
	a := &asked{tab: tab, over: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = a
	return a
}
