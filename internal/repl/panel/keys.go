package panel

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// me names this reviewer in a confirm.Verdict.
const me = confirm.Terminal

// Outcome is the effect of a key.
type Outcome int

// The effects of a key.
const (
	Ignored  Outcome = iota // not a key of the panel
	Handled                 // redraw the panel
	Answered                // the verdict is the answer
	Edit                    // edit the proposal first
	Cancel                  // stop the turn
	Open                    // show the question in the editor
	ToPrompt                // type at the prompt first
)

// Press handles a key. A panel that is not armed accepts keys only for a comment or a rule.
func (p *Panel) Press(key tea.KeyPressMsg) (Outcome, confirm.Verdict) {
	switch {
	case p.words.ed != nil:
		return p.words.press(key)
	case p.rule.ed != nil:
		return p.rule.press(key)
	case !p.armed:
		return Ignored, confirm.Verdict{}
	}
	p.show.whole, p.missed, p.first = false, "", ""
	a := p.answer.meant(key)
	if p.answer.warnUnseen(a) {
		return Handled, confirm.Verdict{}
	}
	if v, ok := p.verdict(a); ok {
		return Answered, v
	}
	return p.act(a, key), confirm.Verdict{}
}

// act handles a key that does not answer.
func (p *Panel) act(a keys.Action, key tea.KeyPressMsg) Outcome {
	chosen := p.chosen
	p.chosen = ""
	switch {
	case a == keys.Comment && p.part.reasons():
		p.words.write(-1)
	case a == keys.ApproveAlways && p.rule.begin():
	case a == keys.Edit && editable(p.part):
		return Edit
	case a == keys.OpenEditor && p.legend.opens():
		return Open
	case a == keys.ToPrompt:
		return ToPrompt
	case a == keys.Cancel:
		if !p.back() {
			return Cancel
		}
	case a == keys.Interrupt, a == keys.Mode, a == keys.Suspend, a == keys.Reprint:
		return Ignored
	case p.answer.choose(a, chosen), p.browse(a):
	default:
		p.answer.miss(a, key)
	}
	return Handled
}

// Say shows a line above the hints, until the next key.
func (p *Panel) Say(text string) { p.missed = text }

// Refusal returns the verdict of a key that says no; ok is false for any other.
func (p *Panel) Refusal(key tea.KeyPressMsg) (v confirm.Verdict, ok bool) {
	if p.answer.meant(key) != keys.Reject {
		return v, false
	}
	return p.verdict(keys.Reject)
}

// Answers reports whether a key answers, if not now, then once all has been visible.
func (p *Panel) Answers(key tea.KeyPressMsg) bool {
	a := p.answer.meant(key)
	return slices.Contains(answers, a) || p.part.option(a) != ""
}

// Moves reports whether a key only moves in the question, which a person does several times in a
// row.
func (p *Panel) Moves(key tea.KeyPressMsg) bool {
	switch p.answer.meant(key) {
	case keys.QuestionUp, keys.QuestionDown, keys.QuestionStart, keys.QuestionEnd, keys.HunkNext, keys.HunkPrevious, keys.LeaveOut:
		return true
	default:
		return false
	}
}

// warnUnseen reports whether to warn instead of approving a diff whose end has not been
// visible, or a model's changes with such a file. The next yes counts, unless it is the same
// key held down.
func (c *answering) warnUnseen(a keys.Action) bool {
	warned := c.show.unseen
	c.show.unseen = time.Time{}
	if what, _ := c.part.unseen(); a != keys.Approve && a != keys.ApproveSession || what == "" || !c.scroll.fits {
		return false
	}
	if _, counts := c.verdict(a); !counts || !warned.IsZero() && c.now.Sub(warned) >= quiet {
		return false
	}
	c.show.unseen = c.now
	return true
}

// back closes a detail view; it returns false without one.
func (p *Panel) back() bool {
	switch {
	case p.diff.out != nil:
		p.diff.showCheck()
	case p.part.back():
	case p.diff.hunks() != nil && p.diff.hunks().Marked() >= 0:
		p.diff.hunks().Mark(-1)
	case p.diff.rev.shown():
		p.diff.compare()
	case p.show.full:
		p.show.full = false
	case p.show.queue:
		p.show.queue = false
	default:
		return false
	}
	return true
}

// verdict returns the answer of an action. It approves exactly the text on the screen.
func (p *Panel) verdict(a keys.Action) (confirm.Verdict, bool) {
	return p.part.verdict(a, p.answer.readable())
}

// browse handles an action that changes the view of the body, and reports whether it did.
func (p *Panel) browse(a keys.Action) bool {
	if p.diff.pressHunk(a) || !p.diff.covered() && p.part.press(a) {
		return true
	}
	switch a {
	case keys.Revision:
		return p.diff.compare()
	case keys.CheckOutput:
		return p.diff.showCheck()
	case keys.Expand:
		return p.diff.expand()
	case keys.Layout:
		return p.diff.arrange()
	case keys.Full:
		p.show.full = !p.show.full
	case keys.MoreKeys:
		p.show.keys = !p.show.keys
	case keys.Calls:
		if (&frame{Panel: p}).calls() == nil {
			return false
		}
		p.show.queue = !p.show.queue
	case keys.FullClose:
		return p.back()
	default:
		return p.scroll.press(a, p.body.Len())
	}
	return true
}
