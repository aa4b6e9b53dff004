package repl

import (
	"slices"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/keyboard"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
)

// held is a key of a question that types text. It counts for the question if it stays alone;
// followed by another key, it begins a prompt.
type held struct {
	key   tea.KeyPressMsg
	panel *panel.Panel
	at    time.Time
	moved bool // it has moved the view already
	no    bool // it came before the question accepts other answers
}

// refusal asks whether the held key refuses the question with the id. The reply is nil if not.
type refusal struct {
	id    string
	reply chan *confirm.Verdict
	no    *confirm.Verdict
}

// refuses begins to answer r.
func (qs *questions) refuses(r *refusal) {
	if qs.held.panel == nil || qs.held.panel != qs.panel || qs.q.req.ID != r.id {
		r.reply <- nil
		return
	}
	if qs.refusing != nil {
		qs.refusing.reply <- nil
	}
	qs.refusing = r
}

// refused answers the last refusal once no key is held.
func (qs *questions) refused() {
	if r := qs.refusing; r != nil && qs.held.panel == nil {
		r.reply <- r.no
		qs.refusing = nil
	}
}

// aloneMsg arrives when a held key may have been the only one for long enough.
type aloneMsg struct{}

// types reports whether a key types text.
func types(key tea.KeyPressMsg) bool {
	return key.Text != "" && key.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModSuper|tea.ModHyper) == 0
}

// named returns the key of a question that a person means. In a layout of another script letters count
// by their place, except for a yes: the letter on the key Y begins the Russian word for no.
func (qs *questions) named(key tea.KeyPressMsg) tea.KeyPressMsg {
	if letter := []rune(key.Text); len(letter) == 1 && !unicode.IsUpper(letter[0]) {
		if l := keyboard.Latin(letter[0], 0); l != 0 && l != 'y' && l != 'a' {
			key = tea.KeyPressMsg{Code: l, Text: string(l)}
		}
	}
	return qs.opt.Terminal.Keys.In(keys.Question, key)
}

// hold keeps a key of the question until it is known to be alone.
func (qs *questions) hold(key tea.KeyPressMsg) tea.Cmd {
	qs.held = held{key: key, panel: qs.panel, at: qs.opt.Now()}
	return qs.alone()
}

// alone lets a held key count if no other key has followed, and otherwise waits. A question that
// went, or was covered, takes none.
func (qs *questions) alone() tea.Cmd {
	h := qs.held
	if h.panel == nil {
		return nil
	}
	if wait := keyboard.Burst - qs.opt.Now().Sub(h.at); wait > 0 || !qs.silent(keyboard.Burst) {
		return tea.Tick(max(wait, keyboard.Burst/10), func(time.Time) tea.Msg { return aloneMsg{} })
	}
	return qs.count()
}

// count gives the held key to its question, if it is still there.
func (qs *questions) count() tea.Cmd {
	h := qs.held
	qs.held = held{}
	note, _ := h.panel.Note()
	switch {
	case h.moved || h.panel != qs.panel || h.panel.PromptHasKeys || qs.last.covered || note != nil:
		return nil
	case h.no:
		v, _ := h.panel.Refusal(qs.named(h.key).String())
		return qs.answer(v)
	}
	cmd, _ := qs.press(keys.Question, h.key)
	return cmd
}

// follow handles a key that follows a held one: both belong to a prompt, even if the question has
// gone. It reports whether nothing is left to do. The Enter after a single letter does not send
// it: it was meant for the question. A key that types nothing ends no text, so a letter before it
// counts, unless it answers.
func (qs *questions) follow(key tea.KeyPressMsg) (cmd tea.Cmd, used bool) {
	h, text := qs.held, types(key) || slices.Contains([]string{"enter", "backspace"}, key.String())
	switch {
	case h.panel == nil, qs.opt.Terminal.Keys.Is(key, keys.Interrupt), h.moved && (!text || qs.moves(key)):
		qs.held = held{}
		return nil, false
	case !text && h.panel == qs.panel && !qs.panel.Answers(qs.named(h.key).String()):
		return qs.count(), false
	}
	qs.typeHeld()
	return nil, qs.opt.Terminal.Keys.Is(key, keys.Send)
}

// typeHeld types the held key at the prompt.
func (qs *questions) typeHeld() {
	key := qs.held.key
	qs.held = held{}
	qs.ed.Handle(tea.KeyPressMsg{Text: key.Text, Code: []rune(key.Text)[0]})
	if qs.panel == nil {
		return
	}
	qs.panel.Disturbed(qs.opt.Now())
	qs.questionChosen = false
	qs.assignKeys(qs.promptHasKeys())
}

// moves reports whether a key moves the view of the question, which changes nothing.
func (qs *questions) moves(key tea.KeyPressMsg) bool {
	return qs.panel != nil && qs.panel.Moves(qs.named(key).String())
}

// began remembers a key that has moved the view: it may begin a text, unless it is one of several.
// No text begins with a blank.
func (qs *questions) began(key tea.KeyPressMsg) (cmd tea.Cmd) {
	if !types(key) || key.Text == " " {
		return nil
	}
	if now := qs.opt.Now(); now.Sub(qs.moved) >= keyboard.Burst {
		cmd = qs.hold(key)
		qs.held.moved = true
	}
	qs.moved = qs.opt.Now()
	return cmd
}

// after records the time of a key that was handled, for the next one.
func (qs *questions) after(cmd tea.Cmd) tea.Cmd {
	if qs.pressed = qs.opt.Now(); qs.sent {
		qs.pressed = time.Time{} // the text has ended
	}
	qs.sent = false
	return cmd
}

// early reports whether a key refuses although the question is too new for other answers: a no
// costs nothing. It does not count while somebody types.
func (qs *questions) early(key tea.KeyPressMsg) bool {
	if !types(key) || !qs.panel.Refuses(qs.opt.Now(), qs.pressed) {
		return false
	}
	_, ok := qs.panel.Refusal(qs.named(key).String())
	return ok
}
