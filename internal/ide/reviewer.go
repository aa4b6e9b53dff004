package ide

import (
	"context"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/ide/activity"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// Reviewer puts questions to the linked editor, if any. It implements confirm.Reviewer
// and confirm.Drafter.
type Reviewer struct {
	opt     *Options
	links   *current
	doing   *activity.Activity
	reviews reviews

	proposed proposed
}

// errAgain means that the question must be shown again.
var errAgain = errors.New("to be shown again")

// Draft implements confirm.Drafter: it fetches the person's text from the editor and
// ends the review there. It returns an error if there is an edit that cannot be
// fetched, or if our own editor shows the proposal but does not report whether it was
// edited. For a file of a plan it then falls back on the text that the editor reported last.
// A text typed over another proposal than the terminal's counts only if accepted there.
func (v *Reviewer) Draft(ctx context.Context, id string) (confirm.Draft, error) {
	q := v.reviews.get(id)
	if l, _ := v.links.get(); q == nil || q.replaced() && l != nil && l.ours() {
		return confirm.Draft{}, nil
	}
	d, err := v.fetch(ctx, q)
	if kept := q.kept(); err != nil && kept != nil && !errors.Is(err, confirm.ErrRejected) {
		return confirm.Draft{Text: *kept, Edited: true}, confirm.ErrUnseen
	}
	return d, err
}

// fetch is Draft of a question.
func (v *Reviewer) fetch(ctx context.Context, q *question) (confirm.Draft, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	known := q.edited().Edited
	l, _ := v.links.get()
	over := q.whole != "" && q.answer() != nil
	select {
	case <-q.ended:
		over = true
	default:
	}
	switch {
	case over:
		return q.crossed(ctx, known, errors.New("the review in the editor is over"))
	case l == nil && known:
		return confirm.Draft{Edited: true}, errors.New("the link to the editor is lost")
	case l == nil:
		return confirm.Draft{}, nil
	case !l.ours():
		return v.foreignDraft(ctx, l, q)
	}
	d, err := l.client.Diffs.Resolve(ctx, q.id(), true)
	if err == nil {
		return q.toDraft(d), nil
	}
	var tool *client.ToolError
	notThere := errors.As(err, &tool) && tool.Code == client.CodeNoDiff
	return q.crossed(ctx, known || !notThere, err)
}

// foreignDraft fetches the person's text from an editor that is not ours.
func (v *Reviewer) foreignDraft(ctx context.Context, l *link, q *question) (confirm.Draft, error) {
	q.mu.Lock()
	a := q.asked
	q.mu.Unlock()
	if taken := a != nil && l.client.Diffs.Take(ctx, a.tab) == nil; !taken {
		return confirm.Draft{}, nil // text typed there counts only if accepted there
	}
	out := q.accepted(ctx)
	switch {
	case out == nil:
		return confirm.Draft{}, fmt.Errorf("%s does not report the text that it shows", l.name())
	case !out.Edited:
		return confirm.Draft{}, nil
	}
	if why, _ := v.proposed.doubt(q, out.Text); why != "" {
		return confirm.Draft{Edited: true}, fmt.Errorf("the text from %s was not taken: %s", l.name(), why)
	}
	return confirm.Draft{Text: out.Text, Edited: true}, nil
}

// drafted records that an open diff was edited, or went off the screen.
func (v *Reviewer) drafted(l *link, c client.DraftChange) {
	q := v.reviews.shownAs(c.DiffID)
	if q == nil {
		return
	}
	q.mu.Lock()
	q.draft = c
	q.mu.Unlock()
	note := draftNote(l.name(), c, q.replaced())
	if q.whole != "" {
		note = q.change.Name + " " + note
	}
	v.opt.Face.note(q.noted(), note)
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

// Claim takes the question for the terminal, which edits its proposal: the editor's
// diff goes away. It returns the text to begin with and whether the person has edited
// it in the editor.
func (v *Reviewer) Claim(ctx context.Context, id string) (text string, edited bool) {
	q := v.reviews.get(id)
	if q == nil {
		return "", false
	}
	got := q.send(ctx, claim{taken: true})
	return got.text, got.edited
}

// Release gives a claimed question back to the editor, with text as the proposal.
func (v *Reviewer) Release(ctx context.Context, id, text string) {
	if q := v.reviews.get(id); q != nil {
		q.send(ctx, claim{text: text})
	}
}

// Shows returns the name of the editor that can show a question, or "".
func (v *Reviewer) Shows() string {
	if l, _ := v.links.get(); l != nil && l.ours() && v.opt.Diffs {
		return l.name()
	}
	return ""
}

// Show brings a question to the editor's screen, if it was opened in the background or
// its tab was closed without an answer.
func (v *Reviewer) Show(ctx context.Context, id string) error {
	q, shows := v.reviews.get(id), v.Shows()
	l, _ := v.links.get()
	if q == nil || shows == "" || l == nil {
		return errors.New("no editor has this question")
	}
	ctx, cancel := l.within(ctx, callTimeout)
	defer cancel()
	if err := l.client.Diffs.Show(ctx, q.id()); err != nil {
		return fmt.Errorf("%s does not show the diff: %w", shows, err)
	}
	return nil
}
