package repl

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// question is a request that waits for the user. gone is closed when it has left the screen.
type question struct {
	req    confirm.Request
	answer chan confirm.Verdict
	gone   chan struct{}
}

// Review asks the user about req in a panel. When ctx ends, the panel disappears before
// Review returns.
func (u *UI) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	q := &question{req: req, answer: make(chan confirm.Verdict, 1), gone: make(chan struct{})}
	u.inbox.Put(q)
	for checked := req.Check.Done(); ctx.Err() == nil; {
		select {
		case v := <-q.answer:
			return v, nil
		case <-checked:
			u.Refresh()
			checked = nil
		case <-ctx.Done():
		case <-u.inbox.Closed():
			return confirm.Verdict{}, confirm.ErrUndecided
		}
	}
	u.inbox.Put(withdraw{q})
	select {
	case <-q.gone:
	case <-u.inbox.Closed():
	}
	return confirm.Verdict{}, ctx.Err()
}

// withdraw removes a question from the screen.
type withdraw struct{ *question }

// questions holds the question on the screen, if any, and those that wait behind it.
type questions struct {
	opt  *Options
	scr  *screen.Screen
	out  *printer.Printer
	turn *turns
	ed   *input.Editor // the prompt

	q        *question
	panel    *panel.Panel // nil if no question is on the screen
	claiming *panel.Panel // being claimed, to be edited; nil without one
	waiting  []*question
	remark   remark // the last one, which may precede its question

	layout diffview.Layout // of diffs

	keyOwner
}

// armedMsg arrives when the panel may accept keys.
type armedMsg struct{}

// pose shows a question, or queues it behind the present one.
func (qs *questions) pose(q *question) tea.Cmd {
	if qs.panel != nil {
		qs.waiting = append(qs.waiting, q)
		return nil
	}
	qs.q, qs.panel = q, panel.New(q.req, qs.out.Look, qs.layout, qs.opt.Now())
	qs.panel.Typed(qs.typed)
	qs.promptChosen, qs.questionChosen = false, false
	qs.assignKeys(qs.drafting())
	if !qs.drafting() {
		qs.panel.WriteAnswer()
	}
	qs.recall()
	return qs.later()
}

// drop withdraws q, because it was answered elsewhere or its turn was cancelled, and reports
// whether q was on the screen. Comments on a plan, and one being typed, become a draft.
func (qs *questions) drop(q *question) (cmd tea.Cmd, shown bool) {
	if qs.panel == nil || qs.q != q {
		qs.waiting = slices.DeleteFunc(qs.waiting, func(w *question) bool { return w == q })
		return nil, false
	}
	if note, _ := qs.panel.Note(); note != nil {
		qs.typed = qs.opt.Now()
	}
	qs.keep(qs.panel.Unsent(), "Your comment")
	return qs.next(), true
}

// keep appends a text to the draft, with a notice. It is a prompt, even if it looks like a
// command.
func (qs *questions) keep(text, name string) {
	switch {
	case text == "":
		return
	case qs.ed.Empty():
		qs.ed.InsertPrompt(text)
	default:
		qs.ed.Append(text)
	}
	qs.out.Notice("The question is gone. " + name + " is at the prompt.")
}

// next removes the question from the screen and shows the next one.
func (qs *questions) next() tea.Cmd {
	qs.q, qs.panel = nil, nil
	if len(qs.waiting) == 0 {
		return nil
	}
	q := qs.waiting[0]
	qs.waiting = qs.waiting[1:]
	return qs.pose(q)
}

// later schedules an armedMsg for when the panel may accept keys.
func (qs *questions) later() tea.Cmd {
	if qs.due {
		return nil
	}
	qs.due = true
	return tea.Tick(qs.wait(), func(time.Time) tea.Msg { return armedMsg{} })
}

// wait returns the time until the panel accepts a key that is meant for it.
func (qs *questions) wait() time.Duration {
	if qs.panel.PromptHasKeys {
		return qs.panel.Calm(qs.opt.Now())
	}
	return qs.panel.Wait(qs.opt.Now())
}

// wake handles an armedMsg.
func (qs *questions) wake(covered bool) tea.Cmd {
	qs.due = false
	if qs.panel == nil || covered || qs.wait() == 0 {
		return nil
	}
	return qs.later()
}

// shown restarts the panel's delay after it was covered.
func (qs *questions) shown() tea.Cmd {
	if qs.panel == nil {
		return nil
	}
	qs.panel.Shown(qs.opt.Now())
	return qs.later()
}

func (qs *questions) restyle(look theme.Look) {
	if qs.panel != nil {
		qs.panel.Restyle(look)
	}
}

// recall shows the remark about the open question.
func (qs *questions) recall() {
	if qs.panel == nil {
		return
	}
	if qs.remark.id == qs.q.req.ID {
		qs.panel.Remark = qs.remark.text
	}
	if qs.opt.Surfaces != nil && qs.opt.Status != nil {
		qs.panel.Editor = qs.opt.Status().Shows
	}
}

// keyOwner decides who gets the keys while a question is on the screen: the question or the
// prompt. A draft keeps them until the person gives them to the question.
type keyOwner struct {
	promptChosen   bool      // the person gave them to the prompt
	questionChosen bool      // the person gave them to the question despite a draft
	typed          time.Time // last change of the draft while the session was busy
	last           keyState
	due            bool // an armedMsg is scheduled
}

// keyState is the state that decides about the keys, after a message.
type keyState struct {
	version  int // of the prompt's text
	drafting bool
	busy     bool // a prompt would have to wait
	covered  bool // by a page or a list
}

// drafting reports whether the prompt contains text or a search.
func (qs *questions) drafting() bool { return !qs.ed.Empty() || qs.ed.Completing() }

// promptHasKeys reports whether the prompt has the keys. A comment keeps its own.
func (qs *questions) promptHasKeys() bool {
	note, _ := qs.panel.Note()
	return note == nil && (qs.promptChosen || qs.drafting() && !qs.questionChosen)
}

// assignKeys gives the keys to the prompt or to the question.
func (qs *questions) assignKeys(prompt bool) {
	qs.panel.PromptHasKeys, qs.panel.Take, qs.panel.Keys = prompt, "", qs.opt.Terminal.Keys
	if prompt && !qs.promptChosen {
		qs.panel.Take = qs.opt.Terminal.Keys.Key(keys.Answer)
		if qs.ed.Completing() {
			qs.panel.Take = qs.opt.Terminal.Keys.Key(keys.Stop) + ", then " + qs.panel.Take
		}
	}
}
