package repl

import (
	"errors"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/lend"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
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

// asking is the question that stands, if any, and its panel.
type asking struct {
	opt  *Options
	scr  *screen.Screen
	out  *printer.Printer
	turn *turns

	q     *question
	panel *panel.Panel // nil if no question stands
	said  remark       // the last one; it may come before its question

	layout diffview.Layout // of diffs
}

// armed is due when a panel may take keys.
type armed struct{ *panel.Panel }

// edited is the outcome of $EDITOR.
type edited struct {
	panel *panel.Panel
	text  string
	err   error
}

// pose puts a question on the screen.
func (a *asking) pose(q *question) tea.Cmd {
	a.q, a.panel = q, panel.New(q.req, a.out.Look, a.layout, a.opt.Now())
	aside(a, false)
	recall(a)
	return a.later()
}

// drop takes q off the screen, if it is there: it was answered elsewhere, or its
// turn was cancelled.
func (a *asking) drop(q *question) bool {
	if a.panel == nil || a.q != q {
		return false
	}
	a.clear()
	return true
}

func (a *asking) clear() {
	a.q, a.panel = nil, nil
}

// later looks at the panel again when it may take keys.
func (a *asking) later() tea.Cmd {
	p := a.panel
	return tea.Tick(p.Wait(a.opt.Now()), func(time.Time) tea.Msg { return armed{p} })
}

func (a *asking) wake(due armed) tea.Cmd {
	if due.Panel != a.panel || a.panel.Wait(a.opt.Now()) == 0 {
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

// key handles a key while a question stands. Those that come before the panel
// takes keys, and those that are not its own, go on to the prompt.
func (a *asking) key(key tea.KeyPressMsg) (tea.Cmd, bool) {
	if a.panel == nil {
		return nil, false
	}
	if a.panel.Aside {
		return nil, false
	}
	if a.panel.Wait(a.opt.Now()) > 0 {
		a.panel.Disturbed(a.opt.Now())
		return nil, false
	}
	where := keys.Question
	if note, _ := a.panel.Note(); note != nil {
		where = keys.Prompt
	}
	outcome, verdict := a.panel.Press(a.opt.Terminal.Keys.In(where, key))
	a.layout = a.panel.Layout()
	switch outcome {
	case panel.Answered:
		a.answer(verdict)
	case panel.Edit:
		return a.claim(), true
	case panel.Open:
		a.open()
	case panel.Aside:
		aside(a, true)
	case panel.Cancel:
		a.cancel()
	case panel.Ignored:
		return nil, false
	case panel.Handled:
	}
	return nil, true
}

// back gives the keys from the prompt to the question again; ok is false if it has
// them, or there is none.
func back(a *asking) (cmd tea.Cmd, ok bool) {
	if a.panel == nil || !a.panel.Aside {
		return nil, false
	}
	aside(a, false)
	return a.shown(), true
}

// aside gives the keys to the prompt, or to the question.
func aside(a *asking, on bool) {
	where := keys.Question
	if on {
		where = keys.Prompt
	}
	a.panel.Aside, a.panel.Rename = on, a.opt.Terminal.Keys.Rename(where)
}

// cancel stops the turn, which withdraws the question. Outside of a turn (/undo)
// it is a no.
func (a *asking) cancel() {
	if a.turn.running {
		a.turn.cancel()
		return
	}
	a.answer(confirm.Verdict{By: "terminal"})
}

func (a *asking) answer(v confirm.Verdict) {
	a.q.answer <- v
	a.clear()
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
		release(a)
		return nil
	}
	return tea.Exec(lend.To(cmd, a.opt.Terminal.In, a.opt.Terminal.Out, a.scr), func(err error) tea.Msg {
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
	release(a)
	return a.later()
}
