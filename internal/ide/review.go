package ide

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/ide/activity"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// How long the parts of a review may take.
const (
	// withdrawing bounds a call about an open diff.
	withdrawing = 900 * time.Millisecond
	// closing bounds the closing of a diff that was answered elsewhere: the person who
	// pressed Esc waits for it.
	closing = 300 * time.Millisecond
	// leaving bounds the closing of all diffs when the link ends: the program waits for
	// it before it exits.
	leaving = 250 * time.Millisecond
	// deaf is how long a probe may go unanswered before nobody waits for the editor.
	deaf = 300 * time.Millisecond
	// fetching is the time for a draft; the controller waits for a second.
	fetching = 800 * time.Millisecond
	// comeback is how long a question waits for an editor that was lost where nobody
	// else can be asked.
	comeback = 10 * time.Second
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

// Reviewer puts questions to the editor that is linked. It is a confirm.Reviewer
// and a confirm.Drafter, whether an editor is linked or not.
type Reviewer struct {
	opt     *Options
	now     *current
	doing   *activity.Activity
	reviews reviews

	proposed proposed
}

// Review implements confirm.Reviewer. It shows the change in the editor that is
// linked, and in the next one when that link is lost. As long as somebody else is
// asked it waits for an editor. What is no change of a
// file's text is not the editor's to answer.
func (v *Reviewer) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	if req.Change == nil || req.Change.Delete || !v.opt.Diffs {
		return confirm.Verdict{}, confirm.ErrUndecided
	}
	s := v.reviews.begin(req)
	defer v.reviews.end(s)
	defer v.doing.Asks()()
	for {
		l, err := v.awaitLink(ctx, s)
		if errors.Is(err, errAgain) {
			continue
		}
		if err != nil {
			return confirm.Verdict{}, err
		}
		said, err := v.show(ctx, l, s)
		if !errors.Is(err, errAgain) {
			return said, err
		}
	}
}

// errAgain says that the question is to be shown again.
var errAgain = errors.New("to be shown again")

// awaitLink waits for an editor.
func (v *Reviewer) awaitLink(ctx context.Context, s *standing) (*link, error) {
	alone := s.req.Alone
	var giveUp <-chan time.Time
	for {
		l, changed := v.now.get()
		if l != nil {
			return l, nil
		}
		select {
		case <-changed:
		case c := <-s.claims:
			c.done <- claimed{}
			text, err := s.awaitRelease(ctx, c)
			if err != nil {
				return nil, err
			}
			s.replace(text)
			return nil, errAgain
		case <-alone:
			if v.now.never() {
				return nil, confirm.ErrUndecided
			}
			alone = nil
			t := time.NewTimer(comeback)
			defer t.Stop()
			giveUp = t.C
		case <-giveUp:
			return nil, confirm.ErrUndecided
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Draft implements confirm.Drafter: it fetches what the person has made of the
// proposal in the editor, and ends the review there. It returns an error if an edit
// is known of that cannot be fetched, and if our own editor shows the proposal and
// does not say whether there is one.
func (v *Reviewer) Draft(ctx context.Context, id string) (text string, edited bool, err error) {
	s := v.reviews.get(id)
	if s == nil {
		return "", false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetching)
	defer cancel()
	known := s.edited().Edited
	l, _ := v.now.get()
	over := false
	select {
	case <-s.ended:
		over = true
	default:
	}
	switch {
	case over:
		return s.crossed(ctx, known, errors.New("the review in the editor is over"))
	case l == nil && known:
		return "", true, errors.New("the link to the editor is lost")
	case l == nil:
		return "", false, nil
	case !l.ours():
		return v.take(ctx, l, s)
	}
	d, err := l.client.Diffs.Resolve(ctx, s.id(), true)
	if err == nil {
		return d.Text, d.Edited, nil
	}
	var tool *client.ToolError
	notThere := errors.As(err, &tool) && tool.Code == client.CodeNoDiff
	return s.crossed(ctx, known || !notThere, err)
}

// take fetches what a person has made of the proposal in an editor that is not ours.
func (v *Reviewer) take(ctx context.Context, l *link, s *standing) (text string, edited bool, err error) {
	s.mu.Lock()
	a := s.asked
	s.mu.Unlock()
	if taken := a != nil && l.client.Diffs.Take(ctx, a.tab) == nil; !taken {
		return "", false, nil // what is typed there counts only if it is accepted there
	}
	out := s.accepted(ctx)
	switch {
	case out == nil:
		return "", false, fmt.Errorf("%s does not say what it shows", l.name())
	case !out.Edited:
		return "", false, nil
	}
	if why, _ := v.proposed.doubt(s, out.Text); why != "" {
		return "", true, fmt.Errorf("the text of %s's was not taken: %s", l.name(), why)
	}
	return out.Text, true, nil
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

// drafted takes note that an open diff was edited, or went off the screen.
func (v *Reviewer) drafted(l *link, c client.DraftChange) {
	s := v.reviews.shownAs(c.DiffID)
	if s == nil {
		return
	}
	s.mu.Lock()
	s.draft = c
	replaced := s.serial > 0
	s.mu.Unlock()
	v.opt.Face.note(s.req.ID, draftNote(l.name(), c, replaced))
}

func draftNote(name string, c client.DraftChange, replaced bool) string {
	switch {
	case !c.Edited && c.Hidden:
		return "waits in " + name + ": o opens it there"
	case !c.Edited:
		return "also open in " + name
	case replaced:
		return fmt.Sprintf("edited in %s +%d −%d: accept it there; y takes the text shown here", name, c.Added, c.Removed)
	}
	return fmt.Sprintf("edited in %s +%d −%d: y takes that text", name, c.Added, c.Removed)
}

// Claim takes the question for the terminal, where its proposal is being edited:
// the editor's diff goes away. It returns the text to begin with, which is the
// draft if the person has edited one in the editor.
func (v *Reviewer) Claim(ctx context.Context, id string) (text string, edited bool) {
	s := v.reviews.get(id)
	if s == nil {
		return "", false
	}
	got := s.send(ctx, claim{taken: true})
	return got.text, got.edited
}

// Release gives a claimed question back: the editor shows it with text as the
// proposal.
func (v *Reviewer) Release(ctx context.Context, id, text string) {
	if s := v.reviews.get(id); s != nil {
		s.send(ctx, claim{text: text})
	}
}

// Shows names the editor that can be asked to show a question; empty if none can.
func (v *Reviewer) Shows() string {
	if l, _ := v.now.get(); l != nil && l.ours() && v.opt.Diffs {
		return l.name()
	}
	return ""
}

// Show brings the question to the editor's screen: it was opened without being shown,
// or its tab was closed without an answer.
func (v *Reviewer) Show(ctx context.Context, id string) error {
	s, shows := v.reviews.get(id), v.Shows()
	l, _ := v.now.get()
	if s == nil || shows == "" || l == nil {
		return errors.New("no editor has this question")
	}
	ctx, cancel := l.within(ctx, withdrawing)
	defer cancel()
	if err := l.client.Diffs.Show(ctx, s.id()); err != nil {
		return fmt.Errorf("%s does not show the diff: %w", shows, err)
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

// request is the question as the editor is asked it.
func (v *Reviewer) request(l *link, s *standing) client.DiffRequest {
	c := s.req.Change
	base := sha256.Sum256([]byte(c.Text))
	id := s.id()
	unique := sha256.Sum256([]byte(id))
	if !l.ours() { // no editor but ours takes a diff up again
		unique = sha256.Sum256([]byte(id + rand.Text()))
	}
	r := client.DiffRequest{
		Path: c.Path, Text: s.text(), Base: c.Text, Tab: l.client.TabName(c.Name, hex.EncodeToString(unique[:3])),
		ID: id, Description: s.req.Description, BaseSHA256: hex.EncodeToString(base[:]), OnClose: client.CloseKeeps,
		Batch: client.Batch{ID: s.req.Batch.ID, Index: s.req.Batch.Index, Total: s.req.Batch.Total},
	}
	for _, n := range s.notes() {
		r.Notes = append(r.Notes, client.Note{Kind: string(n.Kind), Text: n.Text})
	}
	r.Inline = v.opt.Inline
	if v.opt.Alone {
		r.OnClose = client.CloseRejects
	}
	return r
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
