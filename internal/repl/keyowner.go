package repl

import (
	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// updateKeys updates the owner of the keys after a message. free reports that a prompt would run
// at once, covered that the question is covered.
func (qs *questions) updateKeys(free, covered bool) tea.Cmd {
	uncovered := qs.last.covered && !covered
	changed := qs.changed(keyState{version: qs.ed.Version(), drafting: qs.drafting(), busy: !free || qs.panel != nil, covered: covered})
	if changed {
		qs.typed = qs.opt.Now()
	}
	if qs.panel == nil {
		return nil
	}
	qs.questionChosen = qs.questionChosen && !changed
	before := qs.panel.PromptHasKeys
	qs.assignKeys(qs.promptHasKeys())
	if changed && !qs.panel.PromptHasKeys {
		qs.panel.Typed(qs.typed) // the draft is gone
	}
	switch {
	case before && !qs.panel.PromptHasKeys && !qs.questionChosen, uncovered:
		return qs.shown()
	case covered, qs.wait() == 0:
		return nil
	}
	return qs.later()
}

// changed reports whether the draft has changed since the keyState, while the session was
// busy.
func (k *keyOwner) changed(now keyState) bool {
	was := k.last
	k.last = now
	return was.busy && now.version != was.version && (was.drafting || now.drafting)
}

// promptTouched records a key handled by the prompt, whether or not it changed the text.
func (qs *questions) promptTouched(free bool) {
	if free && qs.panel == nil {
		return
	}
	qs.typed = qs.opt.Now()
	if qs.panel != nil && !qs.panel.PromptHasKeys {
		qs.panel.Typed(qs.typed)
	}
}

// takeKeys handles a key of the prompt and reports whether it gave the keys to the question. That
// requires a pause, because the key could be meant for a completion.
func (qs *questions) takeKeys(key tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	now := qs.opt.Now()
	calm := qs.panel.Calm(now) == 0
	first := qs.panel.First()
	qs.panel.Disturbed(now)
	if first != "" && key.Text != "" && qs.ed.Empty() {
		qs.ed.Handle(tea.KeyPressMsg{Text: first, Code: []rune(first)[0]})
	}
	if !calm || qs.ed.Completing() || !qs.opt.Terminal.Keys.Is(key, keys.Answer) {
		return nil, false
	}
	qs.promptChosen, qs.questionChosen = false, qs.drafting()
	qs.assignKeys(false)
	qs.panel.Arm()
	return nil, true
}

// backToQuestion gives the keys back to the question; ok is false if it has them, or
// without a question. In vi mode, Esc in a draft belongs to the draft.
func (qs *questions) backToQuestion() (cmd tea.Cmd, ok bool) {
	switch {
	case qs.panel == nil || !qs.panel.PromptHasKeys:
		return nil, false
	case qs.opt.Terminal.Vi && qs.drafting():
		return nil, true
	}
	qs.promptChosen, qs.questionChosen = false, qs.drafting()
	qs.assignKeys(false)
	return qs.shown(), true
}
