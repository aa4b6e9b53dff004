package repl

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
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

// Refused implements confirm.Refuser: a no may be held until it is known to be alone.
func (u *UI) Refused(ctx context.Context, id string) (v confirm.Verdict, ok bool) {
	r := &refusal{id: id, reply: make(chan *confirm.Verdict, 1)}
	u.inbox.Put(r)
	select {
	case v := <-r.reply:
		if v != nil {
			return *v, true
		}
	case <-ctx.Done():
	case <-u.inbox.Closed():
	}
	return v, false
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
	held     held
	refusing *refusal                 // waits for the held key; nil for none
	pressed  time.Time                // time of the key before; zero if it sent a prompt
	sent     bool                     // the present key sent a prompt
	moved    time.Time                // time of the last key that moved the view
	silent   func(time.Duration) bool // see keyboard.Silent
}

// armedMsg arrives when the panel may accept keys.
type armedMsg struct{}

// editedMsg is the result of $EDITOR.
type editedMsg struct {
	panel *panel.Panel
	text  string
	err   error
}

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

// key handles a key while a question is on the screen. Keys for the prompt pass through.
func (qs *questions) key(key tea.KeyPressMsg) (tea.Cmd, bool) {
	counted, used := qs.follow(key)
	if used || qs.panel == nil {
		return counted, used
	}
	cmd, used := qs.owned(key)
	return tea.Batch(counted, cmd), used
}

// owned gives a key to the question or to the prompt, whichever has the keys.
func (qs *questions) owned(key tea.KeyPressMsg) (tea.Cmd, bool) {
	note, _ := qs.panel.Note()
	switch {
	case note != nil:
		return qs.press(keys.Prompt, key)
	case qs.panel.PromptHasKeys:
		return qs.takeKeys(key)
	case qs.panel.Wait(qs.opt.Now()) == 0 && types(key) && !qs.moves(key):
		return qs.hold(key), true
	case qs.panel.Wait(qs.opt.Now()) == 0:
		cmd, used := qs.press(keys.Question, key)
		return tea.Batch(cmd, qs.began(key)), used
	case qs.early(key):
		cmd := qs.hold(key)
		qs.held.no = true
		return cmd, true
	}
	return qs.takeKeys(key)
}

// press gives a key to the panel.
func (qs *questions) press(where keys.Place, key tea.KeyPressMsg) (tea.Cmd, bool) {
	meant := qs.named(key)
	if where != keys.Question {
		meant = qs.opt.Terminal.Keys.In(where, key)
	}
	outcome, verdict := qs.panel.Press(meant)
	qs.layout = qs.panel.Layout()
	switch outcome {
	case panel.Answered:
		return qs.answer(verdict), true
	case panel.Edit:
		return qs.claim(), true
	case panel.Open:
		qs.open()
	case panel.ToPrompt:
		qs.promptChosen = true
	case panel.Cancel:
		return qs.cancel(), true
	case panel.Ignored:
		return nil, false
	case panel.Handled:
	}
	if qs.wait() > 0 { // a wrong key
		return qs.later(), true
	}
	return nil, true
}

// cancel stops the turn, which withdraws the question. It answers the question of a command
// (/undo) with no.
func (qs *questions) cancel() tea.Cmd {
	if qs.turn.running && !qs.q.req.ByUser {
		qs.turn.cancel()
		return nil
	}
	return qs.answer(confirm.Verdict{By: "terminal"})
}

func (qs *questions) answer(v confirm.Verdict) tea.Cmd {
	if r := qs.refusing; r != nil && v.Decision == confirm.Reject && r.id == qs.q.req.ID {
		r.no = &v
	}
	qs.q.answer <- v
	return qs.next()
}

// paste adds pasted text to an open comment and reports whether there is one.
func (qs *questions) paste(text string) bool {
	if qs.panel == nil {
		return false
	}
	if note, _ := qs.panel.Note(); note != nil {
		note.Paste(text)
		return true
	}
	if qs.held.panel != nil {
		qs.typeHeld()
	}
	qs.panel.Disturbed(qs.opt.Now())
	return false
}

func (qs *questions) restyle(look theme.Look) {
	if qs.panel != nil {
		qs.panel.Restyle(look)
	}
}

// edit opens the proposed text in the user's editor. The saved text becomes the proposal, and
// the question stays open.
func (qs *questions) edit() tea.Cmd {
	p := qs.panel
	name, text, _ := p.Proposal()
	cmd, result, err := qs.opt.Editor(name, text)
	if err != nil {
		qs.out.Problem(err)
		qs.release()
		return nil
	}
	return tea.Exec(jobcontrol.Exec(cmd, qs.opt.Terminal.In, qs.opt.Terminal.Out, qs.scr), func(err error) tea.Msg {
		defer crash.Guard()
		text, err2 := result() // also cleans up
		return editedMsg{panel: p, text: text, err: errors.Join(err, err2)}
	})
}

// edited adopts the text saved by the user. If the question was answered or withdrawn
// meanwhile, a changed text becomes a draft.
func (qs *questions) edited(ed editedMsg) tea.Cmd {
	if ed.err != nil {
		qs.out.Notice("The editor failed, so the proposal is unchanged: " + ed.err.Error())
	}
	if ed.panel != qs.panel {
		if _, text, _ := ed.panel.Proposal(); ed.err == nil && ed.text != text {
			qs.keep(ed.text, "Your text")
		}
		return nil
	}
	text := ed.text
	if ed.err != nil {
		_, text, _ = qs.panel.Proposal()
	}
	qs.panel.Propose(text, qs.opt.Now())
	qs.release()
	return qs.later()
}
