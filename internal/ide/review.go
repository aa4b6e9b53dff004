package ide

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

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

// While a question stands, the editor is asked whether it is still there.
const (
	lookEvery = 2 * time.Second
	lookWait  = 2 * time.Second
)

// show asks the question in one editor. errAgain says that it is to be shown
// again, here or in another. The diff is off the screen when show returns, or the
// editor has been told so.
func (v *Reviewer) show(ctx context.Context, l *link, s *standing) (confirm.Verdict, error) {
	l.sweep(ctx)
	v.proposed.add(s)
	req := v.request(l, s)
	defer l.show(req.Tab)()
	asking, cancel := context.WithCancel(ctx)
	var work crash.Group
	defer work.Wait()
	defer cancel()
	a := s.ask(req.Tab)
	work.Go(func() {
		defer close(a.over)
		a.out.out, a.out.err = l.client.Diffs.Open(asking, req)
	})
	shown := l.shownNote()
	if s.refused != "" {
		shown = s.refused + "; asked again there"
	}
	work.Go(func() { v.watch(asking, l, s, shown) })
	for {
		select {
		case <-a.over:
			cancel()
			answered := time.Now()
			l.closeDiff(ctx, req.Tab, true)
			if a.out.unclear(l) && l.ends(ctx, answered) {
				l.leave(req.Tab)
				v.lostDuring(s, l)
				return confirm.Verdict{}, errAgain
			}
			return v.verdict(ctx, l, s, a.out)
		case <-ctx.Done():
			cancel()
			l.closeDiff(ctx, req.Tab, false)
			return confirm.Verdict{}, ctx.Err()
		case <-l.client.Done():
			l.leave(req.Tab)
			v.lostDuring(s, l)
			return confirm.Verdict{}, errAgain
		case c := <-s.claims:
			if err := v.claimed(ctx, l, s, c, req.Tab); err != nil {
				cancel()
				l.closeDiff(ctx, req.Tab, false)
				return confirm.Verdict{}, err
			}
		}
	}
}

// claimed keeps the question for the terminal until it is given back. Our own
// extension shows it meanwhile, as being edited elsewhere, unless there is a draft
// to begin with. It returns nil if the editor has the question again as it was, and
// errAgain if it is to be shown anew.
func (v *Reviewer) claimed(ctx context.Context, l *link, s *standing, c claim, tab string) error {
	held := l.ours() && !s.edited().Edited && hold(ctx, l, s, true)
	var got claimed
	if !held {
		got = v.draftFor(ctx, l, s)
		l.closeDiff(ctx, tab, false)
	}
	c.done <- got
	text, err := s.awaitRelease(ctx, c)
	switch {
	case err != nil:
		return err
	case held && text == s.text() && hold(ctx, l, s, false):
		return nil
	}
	s.replace(text)
	return errAgain
}

// hold makes our own extension answer the question no more, or again.
func hold(ctx context.Context, l *link, s *standing, on bool) bool {
	ctx, cancel := context.WithTimeout(ctx, withdrawing)
	defer cancel()
	return l.client.Diffs.Claim(ctx, s.id(), on) == nil
}

// draftFor fetches the draft of a question that the terminal has claimed. One that
// cannot be had is given up, and the person is told.
func (v *Reviewer) draftFor(ctx context.Context, l *link, s *standing) claimed {
	text, edited, err := v.Draft(ctx, s.req.ID)
	if err != nil {
		v.opt.Face.note(s.req.ID, "what was typed in "+l.name()+" could not be fetched, so the text here begins without it")
		return claimed{}
	}
	return claimed{text, edited}
}

// watch says beside the question whether the editor has it on its screen; shown is
// said while it has.
func (v *Reviewer) watch(ctx context.Context, l *link, s *standing, shown string) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	was := ""
	for {
		look, cancel := context.WithTimeout(ctx, lookWait)
		err := l.probe(look)
		cancel()
		if ctx.Err() != nil {
			return
		}
		now := shown
		if err != nil {
			now = l.name() + " does not answer: answer here"
		} else if d := s.edited(); d.Edited || d.Hidden {
			now = draftNote(l.name(), d, strings.Contains(s.id(), "~"))
		}
		if now != was {
			v.opt.Face.note(s.req.ID, now)
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
