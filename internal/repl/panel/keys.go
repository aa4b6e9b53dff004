package panel

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// me names this reviewer in a confirm.Verdict.
const me = "terminal"

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
		return p.pressNote(key)
	case p.rule.ed != nil:
		return p.pressRule(key)
	case !p.armed:
		return Ignored, confirm.Verdict{}
	}
	p.show.whole, p.missed, p.first = false, "", ""
	if outcome, v := p.reply(p.answer(key.String())); outcome != Ignored {
		return outcome, v
	}
	return p.act(key), confirm.Verdict{}
}

// act handles a key that does not answer.
func (p *Panel) act(key tea.KeyPressMsg) Outcome {
	name, chosen := key.String(), p.chosen
	p.chosen = ""
	switch {
	case name == "c" && p.part.reasons():
		p.write(-1)
	case name == "A" && p.makeRule():
	case name == "e" && p.editable():
		return Edit
	case name == "o" && p.opens():
		return Open
	case name == "p":
		return ToPrompt
	case name == "esc":
		if !p.back() {
			return Cancel
		}
	case name == "ctrl+c", name == "shift+tab", name == "ctrl+z", name == "ctrl+l":
		return Ignored
	case p.choose(name, chosen), p.browse(name):
	default:
		p.miss(key)
	}
	return Handled
}

// reply handles a key that answers; for any other it returns Ignored.
func (p *Panel) reply(key string) (Outcome, confirm.Verdict) {
	if p.warnUnseen(key) {
		return Handled, confirm.Verdict{}
	}
	if v, ok := p.verdict(key); ok {
		return Answered, v
	}
	return Ignored, confirm.Verdict{}
}

// Refusal returns the verdict of a key that says no; ok is false for any other.
func (p *Panel) Refusal(key string) (v confirm.Verdict, ok bool) {
	if p.answer(key) != "n" {
		return v, false
	}
	return p.verdict("n")
}

// Answers reports whether a key answers, if not now, then once all has been visible.
func (p *Panel) Answers(key string) bool {
	return slices.Contains(answers, p.answer(key)) || p.option(key) != ""
}

// Moves reports whether a key only moves in the question, which a person does several times in a
// row.
func (p *Panel) Moves(key string) bool {
	switch key {
	case "j", "k", "g", "G", "]", "[", "space":
		return true
	}
	return false
}

// warnUnseen reports whether to warn instead of approving a diff whose end has not been
// visible, or a model's changes with such a file. The next yes counts, unless it is the same
// key held down.
func (p *Panel) warnUnseen(key string) bool {
	warned := p.show.unseen
	p.show.unseen = time.Time{}
	if what, _ := p.part.unseen(); key != "y" && key != "a" || what == "" || !p.scroll.fits {
		return false
	}
	if _, counts := p.verdict(key); !counts || !warned.IsZero() && p.now.Sub(warned) >= quiet {
		return false
	}
	p.show.unseen = p.now
	return true
}

// back closes a detail view; it returns false without one.
func (p *Panel) back() bool {
	switch {
	case p.out != nil:
		p.showCheck()
	case p.part.back():
	case p.hunks() != nil && p.hunks().Marked() >= 0:
		p.hunks().Mark(-1)
	case p.rev.shown():
		p.compare()
	case p.show.full:
		p.show.full = false
	case p.show.queue:
		p.show.queue = false
	default:
		return false
	}
	return true
}

// verdict returns the answer of a key. It approves exactly the text on the screen.
func (p *Panel) verdict(key string) (confirm.Verdict, bool) {
	return p.part.verdict(key, p.readable())
}

// browse handles a key that changes the view of the body, and reports whether it did.
func (p *Panel) browse(key string) bool {
	if p.pressHunk(key) || !p.covered() && p.part.press(key) {
		return true
	}
	switch key {
	case "r":
		return p.compare()
	case "t":
		return p.showCheck()
	case "x":
		return p.expand()
	case "s":
		return p.arrange()
	case "v":
		p.show.full = !p.show.full
	case "?":
		p.show.keys = !p.show.keys
	case "l":
		if p.calls() == nil {
			return false
		}
		p.show.queue = !p.show.queue
	case "q":
		return p.back()
	default:
		return p.scroll.press(key, p.body.Len())
	}
	return true
}
