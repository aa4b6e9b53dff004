package repl

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// hands is who has the keys while a question is on the screen: the question or the
// prompt. A draft keeps them until the person gives them to the question.
type hands struct {
	aside bool      // the person gave them to the prompt
	taken bool      // the person gave them to the question, although there is a draft
	typed time.Time // when the draft last changed while somebody else had the session
	last  moment
	due   bool // an armed is on its way
	names map[keys.Place]func(hint string) string
}

// moment is what the keys depend on, as it was after a message.
type moment struct {
	version  int // of the prompt's text
	drafting bool
	busy     bool // a prompt would have to wait
	covered  bool // the question is, by a page or a list
}

// drafting reports whether the prompt holds text, or a search for some.
func (a *asking) drafting() bool { return !a.ed.Empty() || a.ed.Completing() }

// settle follows what a message came to. free says that a prompt would be sent at
// once, covered that something covers the question.
func (a *asking) settle(free, covered bool) tea.Cmd {
	uncovered := a.last.covered && !covered
	changed := a.changed(moment{version: a.ed.Version(), drafting: a.drafting(), busy: !free || a.panel != nil, covered: covered})
	if changed {
		a.typed = a.opt.Now()
	}
	if a.panel == nil {
		return nil
	}
	a.taken = a.taken && !changed
	before := a.panel.Aside
	a.give(a.prompts())
	if changed && !a.panel.Aside {
		a.panel.Typed(a.typed) // the draft is gone
	}
	switch {
	case before && !a.panel.Aside && !a.taken, uncovered:
		return a.shown()
	case covered, a.wait() == 0:
		return nil
	}
	return a.later()
}

// changed reports whether a draft was changed between the last moment and now, while
// somebody else had the session.
func (h *hands) changed(now moment) bool {
	was := h.last
	h.last = now
	return was.busy && now.version != was.version && (was.drafting || now.drafting)
}

// touched follows a key that the prompt took, whether or not it changed the text.
func (a *asking) touched(free bool) {
	if free && a.panel == nil {
		return
	}
	a.typed = a.opt.Now()
	if a.panel != nil && !a.panel.Aside {
		a.panel.Typed(a.typed)
	}
}

// prompts reports whether the prompt has the keys. A comment keeps its own.
func (a *asking) prompts() bool {
	note, _ := a.panel.Note()
	return note == nil && (a.aside || a.drafting() && !a.taken)
}

// give gives the keys to the prompt or to the question.
func (a *asking) give(prompt bool) {
	a.panel.Aside, a.panel.Take, a.panel.Rename = prompt, "", a.names[keys.Question]
	if prompt {
		a.panel.Rename = a.names[keys.Prompt]
	}
	if prompt && !a.aside {
		a.panel.Take = a.opt.Terminal.Keys.Key(keys.Answer)
		if a.ed.Completing() {
			a.panel.Take = a.opt.Terminal.Keys.Key(keys.Stop) + ", then " + a.panel.Take
		}
	}
}

// take handles a key that is not for the question: it returns true if the key gives
// the keys to it. It does so only after a pause, as it may be typed for a completion.
func (a *asking) take(key tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	now := a.opt.Now()
	calm := a.panel.Calm(now) == 0
	a.panel.Disturbed(now)
	if !calm || a.ed.Completing() || !a.opt.Terminal.Keys.Is(key, keys.Answer) {
		return nil, false
	}
	a.aside, a.taken = false, a.drafting()
	a.give(false)
	a.panel.Arm()
	return nil, true
}

// back gives the keys from the prompt to the question again; ok is false if it has
// them, or there is none. With the keys of vi, Esc in a draft is for the draft.
func (a *asking) back() (cmd tea.Cmd, ok bool) {
	switch {
	case a.panel == nil || !a.panel.Aside:
		return nil, false
	case a.opt.Terminal.Vi && a.drafting():
		return nil, true
	}
	a.aside, a.taken = false, a.drafting()
	a.give(false)
	return a.shown(), true
}
