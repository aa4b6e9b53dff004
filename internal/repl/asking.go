package repl

import (
	"errors"
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"

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

// question is a request that waits for the user. gone is closed when it is no
// longer on the screen.
type question struct {
	req    confirm.Request
	answer chan confirm.Verdict
	gone   chan struct{}
}

// withdraw takes a question off the screen.
type withdraw struct{ *question }

// asking is the question on the screen, if any, and those that wait behind it.
type asking struct {
	opt  *Options
	scr  *screen.Screen
	out  *printer.Printer
	turn *turns
	ed   *input.Editor // the prompt

	q       *question
	panel   *panel.Panel // nil if no question is on the screen
	waiting []*question
	said    remark // the last one; it may come before its question

	layout diffview.Layout // of diffs

	hands
}

// armed is due when the panel may take keys.
type armed struct{}

// edited is the outcome of $EDITOR.
type edited struct {
	panel *panel.Panel
	text  string
	err   error
}

// pose puts a question on the screen, or behind the one that is there.
func (a *asking) pose(q *question) tea.Cmd {
	if a.panel != nil {
		a.waiting = append(a.waiting, q)
		return nil
	}
	a.q, a.panel = q, panel.New(q.req, a.out.Look, a.layout, a.opt.Now())
	a.panel.Typed(a.typed)
	a.aside, a.taken = false, false
	a.give(a.drafting())
	a.recall()
	return a.later()
}

// drop withdraws q: it was answered elsewhere, or its turn was cancelled. It returns
// true if q was on the screen. A comment that was being typed becomes a draft.
func (a *asking) drop(q *question) (cmd tea.Cmd, shown bool) {
	if a.panel == nil || a.q != q {
		a.waiting = slices.DeleteFunc(a.waiting, func(w *question) bool { return w == q })
		return nil, false
	}
	if note, _ := a.panel.Note(); note != nil {
		a.typed = a.opt.Now()
		a.keep(note.Text())
	}
	return a.next(), true
}

// keep puts a comment behind the draft. It is a prompt, whatever it begins with.
func (a *asking) keep(comment string) {
	switch {
	case comment == "":
		return
	case a.ed.Empty():
		a.ed.InsertPrompt(comment)
	default:
		a.ed.Append(comment)
	}
	a.out.Notice("The question is gone. Your comment is at the prompt.")
}

// next takes the question off the screen and shows the one behind it.
func (a *asking) next() tea.Cmd {
	a.q, a.panel = nil, nil
	if len(a.waiting) == 0 {
		return nil
	}
	q := a.waiting[0]
	a.waiting = a.waiting[1:]
	return a.pose(q)
}

// later looks at the panel again when it may take keys.
func (a *asking) later() tea.Cmd {
	if a.due {
		return nil
	}
	a.due = true
	return tea.Tick(a.wait(), func(time.Time) tea.Msg { return armed{} })
}

// wait is how long it takes until the panel takes a key that is meant for it.
func (a *asking) wait() time.Duration {
	if a.panel.Aside {
		return a.panel.Calm(a.opt.Now())
	}
	return a.panel.Wait(a.opt.Now())
}

// wake takes an armed.
func (a *asking) wake(covered bool) tea.Cmd {
	a.due = false
	if a.panel == nil || covered || a.wait() == 0 {
		return nil
	}
	return a.later()
}

// shown follows when a page no longer covers the screen.
func (a *asking) shown() tea.Cmd {
	if a.panel == nil {
		return nil
	}
	a.panel.Shown(a.opt.Now())
	return a.later()
}

// key handles a key while a question is on the screen. Those that are not for the
// panel go on to the prompt.
func (a *asking) key(key tea.KeyPressMsg) (tea.Cmd, bool) {
	if a.panel == nil {
		return nil, false
	}
	where := keys.Question
	if note, _ := a.panel.Note(); note != nil {
		where = keys.Prompt
	} else if a.panel.Aside || a.panel.Wait(a.opt.Now()) > 0 {
		return a.take(key)
	}
	outcome, verdict := a.panel.Press(a.opt.Terminal.Keys.In(where, key))
	a.layout = a.panel.Layout()
	switch outcome {
	case panel.Answered:
		return a.answer(verdict), true
	case panel.Edit:
		return a.claim(), true
	case panel.Open:
		a.open()
	case panel.Aside:
		a.aside = true
	case panel.Cancel:
		return a.cancel(), true
	case panel.Ignored:
		return nil, false
	case panel.Handled:
	}
	return nil, true
}

// cancel stops the turn, which withdraws the question. To a command's question (/undo)
// it is a no.
func (a *asking) cancel() tea.Cmd {
	if a.turn.running && !a.q.req.ByUser {
		a.turn.cancel()
		return nil
	}
	return a.answer(confirm.Verdict{By: "terminal"})
}

func (a *asking) answer(v confirm.Verdict) tea.Cmd {
	a.q.answer <- v
	return a.next()
}

// paste puts pasted text into the comment, if one is being typed.
func (a *asking) paste(text string) bool {
	if a.panel == nil {
		return false
	}
	if note, _ := a.panel.Note(); note != nil {
		note.Paste(text)
		return true
	}
	a.panel.Disturbed(a.opt.Now())
	return false
}

func (a *asking) restyle(look theme.Look) {
	if a.panel != nil {
		a.panel.Restyle(look)
	}
}

// edit opens the proposed text in the user's editor; what is saved becomes the
// proposal, and the question stands.
func (a *asking) edit() tea.Cmd {
	p := a.panel
	name, text, _ := p.Proposal()
	cmd, result, err := a.opt.Editor(name, text)
	if err != nil {
		a.out.Problem(err)
		a.release()
		return nil
	}
	return tea.Exec(jobcontrol.Exec(cmd, a.opt.Terminal.In, a.opt.Terminal.Out, a.scr), func(err error) tea.Msg {
		defer crash.Guard()
		text, err2 := result() // also cleans up
		return edited{panel: p, text: text, err: errors.Join(err, err2)}
	})
}

// edited takes up what the user saved.
func (a *asking) edited(ed edited) tea.Cmd {
	if ed.err != nil {
		a.out.Notice("The editor ended with an error, so the proposal is as it was: " + ed.err.Error())
	}
	if ed.panel != a.panel {
		return nil // answered elsewhere, or withdrawn, meanwhile
	}
	text := ed.text
	if ed.err != nil {
		_, text, _ = a.panel.Proposal()
	}
	a.panel.Propose(text, a.opt.Now())
	a.release()
	return a.later()
}
