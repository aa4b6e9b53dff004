package ide

import (
	"context"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/ide/activity"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// Reviewer puts questions to the editor that is linked. It is a confirm.Reviewer
// and a confirm.Drafter, whether an editor is linked or not.
type Reviewer struct {
	opt     *Options
	now     *current
	doing   *activity.Activity
	reviews reviews

	proposed proposed
}

// errAgain says that the question is to be shown again.
var errAgain = errors.New("to be shown again")

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
