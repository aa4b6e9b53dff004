package ide

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Review implements confirm.Reviewer. It shows each file of the question in the linked editor, all
// at once, and after a loss in the next one; as long as somebody else is asked too, it waits for
// an editor. The files of a list that are rejected are left out of its approval. A request
// without a change that can be shown, or a plan, is left to others.
func (v *Reviewer) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	files := v.files(req)
	if len(files) == 0 {
		return confirm.Verdict{}, confirm.ErrUndecided
	}
	defer v.doing.Asks()() // a user's command asks without app.asker, which counts the tools' questions
	t := turnReview{Reviewer: v, req: req, answers: make([]confirm.Verdict, len(files))}
	var parts []*question
	edits := confirm.As[*confirm.Edits](req)
	lists := edits != nil && edits.Review
	for i, c := range files {
		switch {
		case !lists:
			parts = append(parts, v.reviews.begin(req, c, ""))
		case slices.Contains(edits.Out, i):
			t.answered++
		default:
			parts = append(parts, v.reviews.begin(partOf(req, i, c, len(files)), c, req.ID))
		}
	}
	defer v.reviews.end(parts...) // an approval elsewhere needs the answers until all are given
	if !lists {
		return v.ask(ctx, parts[0])
	}
	v.opt.Face.note(req.ID, "") // it may be about the question before its texts were replaced
	return t.run(ctx, parts)
}

// files returns the files that are shown for a question, if any.
func (v *Reviewer) files(req confirm.Request) []workspace.Change {
	switch s := req.Subject.(type) {
	case *confirm.Edits:
		if v.opt.Diffs && (s.Review || s.One() && (s.Changes[0].Editable() || s.Changes[0].Removes())) {
			return s.Changes
		}
	case *confirm.Document:
		if v.opt.Diffs && !v.opt.Unattended {
			return []workspace.Change{s.File(v.opt.Search.Dir)}
		}
	default:
	}
	return nil
}

// ask shows a question until it is answered.
func (v *Reviewer) ask(ctx context.Context, q *question) (confirm.Verdict, error) {
	for {
		l, err := v.awaitLink(ctx, q)
		if errors.Is(err, errAgain) {
			continue
		}
		if err != nil {
			return confirm.Verdict{}, err
		}
		if !q.shownBy(l) {
			return confirm.Verdict{}, confirm.ErrUndecided
		}
		said, err := v.show(ctx, l, q)
		if !errors.Is(err, errAgain) {
			return said, err
		}
	}
}

// shownBy reports whether an editor can show the question.
func (q *question) shownBy(l *link) bool {
	return l.ours() || !q.isPlan() && q.whole == "" && !q.change.Removes()
}

// awaitLink waits for an editor.
func (v *Reviewer) awaitLink(ctx context.Context, q *question) (*link, error) {
	alone := q.req.Alone
	var giveUp <-chan time.Time
	for {
		l, changed := v.links.get()
		if l != nil {
			return l, nil
		}
		select {
		case <-changed:
		case c := <-q.claims:
			c.done <- claimed{}
			text, err := q.awaitRelease(ctx, c)
			if err != nil {
				return nil, err
			}
			q.replace(text)
			return nil, errAgain
		case <-alone:
			if v.links.never() {
				return nil, confirm.ErrUndecided
			}
			alone = nil
			t := time.NewTimer(reconnectWait)
			defer t.Stop()
			giveUp = t.C
		case <-giveUp:
			return nil, confirm.ErrUndecided
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// request builds the editor's request for a question.
func (v *Reviewer) request(l *link, q *question) client.DiffRequest {
	c := q.change
	base := sha256.Sum256([]byte(c.Text))
	if c.Raw != nil {
		base = sha256.Sum256(c.Raw)
	}
	id := q.id()
	unique := sha256.Sum256([]byte(id))
	if !l.ours() { // only ours takes a diff up again
		unique = sha256.Sum256([]byte(id + rand.Text()))
	}
	r := client.DiffRequest{
		Path: c.Path, Text: q.text(), Base: c.Text, Tab: l.client.TabName(c.Name, hex.EncodeToString(unique[:3])),
		ID: id, Description: q.req.About(), BaseSHA256: hex.EncodeToString(base[:]), OnClose: client.CloseKeeps, Rechecks: true,
		Batch: client.Batch{ID: q.req.Batch.ID, Index: q.req.Batch.Index, Total: q.req.Batch.Total},
	}
	if e := string(c.Format.Encoding); c.Raw == nil && e != "utf-8" {
		r.Encoding = e
	}
	switch {
	case c.Moves():
		r.Removal, r.From, r.Path = client.Move, c.Path, c.To
	case c.Delete:
		r.Removal = client.Deletion
	}
	for _, n := range q.notes() {
		r.Notes = append(r.Notes, client.Note{Kind: string(n.Kind), Text: n.Text})
	}
	if q.whole != "" {
		r.KeepsDrafts, r.Draft = true, q.kept()
	}
	if o := q.req.Offer; o != nil && !q.req.Force {
		r.Offer = &client.Offer{Rule: o.Rule, Problem: q.problem}
	}
	r.Inline, r.Plan, r.Refused = v.opt.Inline, q.isPlan(), q.refusal()
	if v.opt.Unattended {
		r.OnClose = client.CloseRejects
	}
	return r
}

// Bounds of the regular check whether the editor still answers.
const (
	lookEvery = 2 * time.Second
	lookWait  = 2 * time.Second
)

// closingWait is how long a window that has given up its diffs may take to end the link.
const closingWait = 10 * time.Second

// show asks the question in one editor. errAgain means to show it again, here or in
// another. When show returns, the diff is off the screen, or the editor was told to
// close it, or it is our own extension, which closes an answered diff itself.
func (v *Reviewer) show(ctx context.Context, l *link, q *question) (confirm.Verdict, error) {
	l.sweep(ctx)
	v.proposed.add(q)
	req := v.request(l, q)
	defer l.track(req.Tab)()
	asking, cancel := context.WithCancel(ctx)
	var work crash.Group
	// Its notes end before the note on how it ended.
	end := func() { cancel(); work.Wait() }
	defer end()
	a := q.newDiff(req.Tab)
	work.Go(func() {
		defer close(a.over)
		a.result.outcome, a.result.err = l.client.Diffs.Open(asking, req)
	})
	shown := l.shownNote()
	if q.refused != "" {
		shown = q.refused + "; asked again there"
	}
	if q.whole == "" {
		work.Go(func() { v.watch(asking, l, q, shown) })
	} else {
		v.opt.Face.note(q.whole, "also open in "+l.name()+", file by file; y takes what you type there")
	}
	work.Go(func() { v.check(asking, l, q) })
	over := a.over
	var stays <-chan time.Time
	for {
		select {
		case <-over:
			if a.result.aborted() {
				cancel()
				over, stays = nil, time.After(closingWait)
				continue
			}
			end()
			return v.answered(ctx, l, q, a)
		case <-stays:
			end()
			return v.answered(ctx, l, q, a)
		case <-ctx.Done():
			cancel()
			l.closeDiff(ctx, req.Tab, false)
			return confirm.Verdict{}, ctx.Err()
		case <-l.client.Done():
			end()
			l.leave(req.Tab)
			v.lostDuring(q, l)
			return confirm.Verdict{}, errAgain
		case c := <-q.claims:
			if err := v.claimed(ctx, l, q, c, req.Tab); err != nil {
				cancel()
				l.closeDiff(ctx, req.Tab, false)
				return confirm.Verdict{}, err
			}
		}
	}
}

// answered returns the verdict of a diff that is over, or errAgain if its editor is quitting.
func (v *Reviewer) answered(ctx context.Context, l *link, q *question, a *asked) (confirm.Verdict, error) {
	at, unclear := time.Now(), a.result.unclear(l)
	if !l.ours() || unclear || a.result.err != nil { // else a person waits for the file, and the tab goes by itself
		l.closeDiff(ctx, a.tab, true)
	}
	if unclear && l.ends(ctx, at) {
		l.leave(a.tab)
		v.lostDuring(q, l)
		return confirm.Verdict{}, errAgain
	}
	return v.verdict(ctx, l, q, a.result)
}

// claimed keeps the question for the terminal until it is released. Meanwhile our own
// extension shows it as being edited elsewhere, unless there is a draft to begin with.
// It returns nil if the editor has the unchanged question again, and errAgain if the
// question must be shown again.
func (v *Reviewer) claimed(ctx context.Context, l *link, q *question, c claim, tab string) error {
	held := l.ours() && !q.edited().Edited && hold(ctx, l, q, true)
	var got claimed
	if !held {
		got = v.draftFor(ctx, l, q)
		l.closeDiff(ctx, tab, false)
	}
	c.done <- got
	text, err := q.awaitRelease(ctx, c)
	switch {
	case err != nil:
		return err
	case held && text == q.text() && hold(ctx, l, q, false):
		return nil
	}
	q.replace(text)
	return errAgain
}

// hold has our own extension stop (on) or resume taking answers to the question.
func hold(ctx context.Context, l *link, q *question, on bool) bool {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return l.client.Diffs.Claim(ctx, q.id(), on) == nil
}

// draftFor fetches the draft of a question that the terminal has claimed. If that
// fails, it notes that the draft is lost.
func (v *Reviewer) draftFor(ctx context.Context, l *link, q *question) claimed {
	d, err := v.fetch(ctx, q)
	if err != nil {
		v.opt.Face.note(q.noted(), "the text typed in "+l.name()+" could not be fetched, so it is missing here")
		return claimed{}
	}
	return claimed{d.Text, d.Edited}
}

// watch keeps the note beside the question up to date: shown while the editor answers,
// a warning while it does not.
func (v *Reviewer) watch(ctx context.Context, l *link, q *question, shown string) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	was := ""
	for {
		look, cancel := context.WithTimeout(ctx, lookWait)
		err := l.probe(look)
		cancel()
		if ctx.Err() != nil || l.lost() {
			return // show notes the loss
		}
		now := shown
		if err != nil {
			now = l.name() + " does not answer: answer here"
		} else if d := q.edited(); d.Edited || d.Hidden {
			now = draftNote(l.name(), d, q.replaced())
		}
		if now != was {
			v.opt.Face.note(q.noted(), now)
			was = now
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (l *link) shownNote() string {
	switch {
	case l.ours():
		return "also open in " + l.name()
	case l.client.Diffs.Takes():
		return fmt.Sprintf("also open in %s; y takes what you type there", l.name())
	}
	return fmt.Sprintf("also open in %s; edits there count only if accepted there", l.name())
}
