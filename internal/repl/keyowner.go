package repl

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// keyOwner decides who gets the keys while a question is on the screen: the question or the
// prompt. A draft keeps them until the person gives them to the question.
type keyOwner struct {
	promptChosen   bool      // the person gave them to the prompt
	questionChosen bool      // the person gave them to the question despite a draft
	typed          time.Time // last change of the draft while the session was busy
	last           keyState
	due            bool // an armedMsg is scheduled
	names          map[keys.Place]func(hint string) string
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

// updateKeys updates the owner of the keys after a message. free reports that a prompt would run
// at once, covered that the question is covered.
func (qs *questions) updateKeys(free, covered bool) tea.Cmd {
	qs.refused()
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

// promptHasKeys reports whether the prompt has the keys. A comment keeps its own.
func (qs *questions) promptHasKeys() bool {
	note, _ := qs.panel.Note()
	return note == nil && (qs.promptChosen || qs.drafting() && !qs.questionChosen)
}

// assignKeys gives the keys to the prompt or to the question.
func (qs *questions) assignKeys(prompt bool) {
	qs.panel.PromptHasKeys, qs.panel.Take, qs.panel.Rename = prompt, "", qs.names[keys.Question]
	if prompt {
		qs.panel.Rename = qs.names[keys.Prompt]
	}
	if prompt && !qs.promptChosen {
		qs.panel.Take = qs.opt.Terminal.Keys.Key(keys.Answer)
		if qs.ed.Completing() {
			qs.panel.Take = qs.opt.Terminal.Keys.Key(keys.Stop) + ", then " + qs.panel.Take
		}
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
