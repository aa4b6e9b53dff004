package repl

import (
	"context"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/keyboard"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
)

// refuses begins to answer r.
func (k *strokes) refuses(r *refusal) {
	if k.held.panel == nil || k.held.panel != k.panel || k.q.req.ID != r.id {
		r.reply <- nil
		return
	}
	if k.refusing != nil {
		k.refusing.reply <- nil
	}
	k.refusing = r
}

// refused answers the last refusal once no key is held.
func (k *strokes) refused() {
	if r := k.refusing; r != nil && k.held.panel == nil {
		r.reply <- r.no
		k.refusing = nil
	}
}

// aloneMsg arrives when a held key may have been the only one for long enough.
type aloneMsg struct{}

// types reports whether a key types text.
func types(key tea.KeyPressMsg) bool {
	return key.Text != "" && key.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModSuper|tea.ModHyper) == 0
}

// named returns the key that a person means in a question. In a layout of another script letters count
// by their place, except for a yes: the letter on the key Y begins the Russian word for no.
func (k *strokes) named(key tea.KeyPressMsg) tea.KeyPressMsg {
	letter := []rune(key.Text)
	if len(letter) != 1 || unicode.IsUpper(letter[0]) {
		return key
	}
	l := keyboard.Latin(letter[0], 0)
	if l == 0 {
		return key
	}
	latin := tea.KeyPressMsg{Code: l, Text: string(l)}
	switch k.opt.Terminal.Keys.At(keys.Question, latin) {
	case keys.Approve, keys.ApproveSession:
		return key
	default:
		return latin
	}
}

// hold keeps a key of the question until it is known to be alone.
func (k *strokes) hold(key tea.KeyPressMsg) tea.Cmd {
	k.held = held{key: key, panel: k.panel, at: k.opt.Now()}
	return k.alone()
}

// alone lets a held key count if no other key has followed, and otherwise waits. A question that
// went, or was covered, takes none.
func (k *strokes) alone() tea.Cmd {
	h := k.held
	if h.panel == nil {
		return nil
	}
	if wait := keyboard.Burst - k.opt.Now().Sub(h.at); wait > 0 || !k.silent(keyboard.Burst) {
		return tea.Tick(max(wait, keyboard.Burst/10), func(time.Time) tea.Msg { return aloneMsg{} })
	}
	return k.count()
}

// count gives the held key to its question, if it is still there.
func (k *strokes) count() tea.Cmd {
	h := k.held
	k.held = held{}
	note, _ := h.panel.Note()
	switch {
	case h.moved || h.panel != k.panel || h.panel.PromptHasKeys || k.last.covered || note != nil:
		return nil
	case h.no:
		v, _ := h.panel.Refusal(k.named(h.key))
		return k.answer(v)
	}
	cmd, _ := k.press(k.named(h.key))
	return cmd
}

// follow handles a key that follows a held one: both belong to a prompt, even if the question has
// gone. It reports whether nothing is left to do. The Enter after a single letter does not send
// it: it was meant for the question. A key that types nothing ends no text, so a letter before it
// counts, unless it answers.
func (k *strokes) follow(key tea.KeyPressMsg) (cmd tea.Cmd, used bool) {
	at := k.opt.Terminal.Keys.At(keys.Prompt, key)
	h, text := k.held, types(key) || at == keys.Send || at == keys.DeleteLeft
	switch {
	case h.panel == nil, at == keys.Interrupt, h.moved && (!text || k.moves(key)):
		k.held = held{}
		return nil, false
	case !text && h.panel == k.panel && !k.panel.Answers(k.named(h.key)):
		return k.count(), false
	}
	k.typeHeld()
	return nil, at == keys.Send
}

// typeHeld types the held key at the prompt.
func (k *strokes) typeHeld() {
	key := k.held.key
	k.held = held{}
	k.ed.Handle(tea.KeyPressMsg{Text: key.Text, Code: []rune(key.Text)[0]})
	if k.panel == nil {
		return
	}
	k.panel.Disturbed(k.opt.Now())
	k.questionChosen = false
	k.assignKeys(k.promptHasKeys())
}

// moves reports whether a key moves the view of the question, which changes nothing.
func (k *strokes) moves(key tea.KeyPressMsg) bool {
	return k.panel != nil && k.panel.Moves(k.named(key))
}

// began remembers a key that has moved the view: it may begin a text, unless it is one of several.
// No text begins with a blank.
func (k *strokes) began(key tea.KeyPressMsg) (cmd tea.Cmd) {
	if !types(key) || key.Text == " " {
		return nil
	}
	if now := k.opt.Now(); now.Sub(k.moved) >= keyboard.Burst {
		cmd = k.hold(key)
		k.held.moved = true
	}
	k.moved = k.opt.Now()
	return cmd
}

// after records the time of a key that was handled, for the next one.
func (k *strokes) after(cmd tea.Cmd) tea.Cmd {
	if k.pressed = k.opt.Now(); k.sent {
		k.pressed = time.Time{} // the text has ended
	}
	k.sent = false
	return cmd
}

// early reports whether a key refuses although the question is too new for other answers: a no
// costs nothing. It does not count while somebody types.
func (k *strokes) early(key tea.KeyPressMsg) bool {
	if !types(key) || !k.panel.Refuses(k.opt.Now(), k.pressed) {
		return false
	}
	_, ok := k.panel.Refusal(k.named(key))
	return ok
}

// key handles a key while a question is on the screen. Keys for the prompt pass through.
func (k *strokes) key(key tea.KeyPressMsg) (tea.Cmd, bool) {
	counted, used := k.follow(key)
	if used || k.panel == nil {
		return counted, used
	}
	cmd, used := k.owned(key)
	return tea.Batch(counted, cmd), used
}

// owned gives a key to the question or to the prompt, whichever has the keys.
func (k *strokes) owned(key tea.KeyPressMsg) (tea.Cmd, bool) {
	note, _ := k.panel.Note()
	switch {
	case note != nil:
		return k.press(key)
	case k.panel.PromptHasKeys:
		return k.takeKeys(key)
	case k.panel.Wait(k.opt.Now()) == 0 && types(key) && !k.moves(key):
		return k.hold(key), true
	case k.panel.Wait(k.opt.Now()) == 0:
		cmd, used := k.press(k.named(key))
		return tea.Batch(cmd, k.began(key)), used
	case k.early(key):
		cmd := k.hold(key)
		k.held.no = true
		return cmd, true
	}
	return k.takeKeys(key)
}

// press gives a key to the panel.
func (k *strokes) press(key tea.KeyPressMsg) (tea.Cmd, bool) {
	outcome, verdict := k.panel.Press(key)
	k.layout = k.panel.Layout()
	switch outcome {
	case panel.Answered:
		return k.answer(verdict), true
	case panel.Edit:
		return k.claim(), true
	case panel.Open:
		k.open()
	case panel.ToPrompt:
		k.promptChosen = true
	case panel.Cancel:
		return k.cancel(), true
	case panel.Ignored:
		return nil, false
	case panel.Handled:
	}
	if k.wait() > 0 { // a wrong key
		return k.later(), true
	}
	return nil, true
}

// paste adds pasted text to an open comment and reports whether there is one.
func (k *strokes) paste(text string) bool {
	if k.panel == nil {
		return false
	}
	if note, _ := k.panel.Note(); note != nil {
		note.Paste(text)
		return true
	}
	if k.held.panel != nil {
		k.typeHeld()
	}
	k.panel.Disturbed(k.opt.Now())
	return false
}

// cancel stops the turn, which withdraws the question. It answers the question of a command
// (/undo) with no.
func (k *strokes) cancel() tea.Cmd {
	if k.turn.running && !k.q.req.ByUser {
		k.turn.cancel()
		return nil
	}
	return k.answer(confirm.Verdict{By: confirm.Terminal})
}

func (k *strokes) answer(v confirm.Verdict) tea.Cmd {
	if r := k.refusing; r != nil && v.Decision == confirm.Reject && r.id == k.q.req.ID {
		r.no = &v
	}
	k.q.answer <- v
	return k.next()
}

// held is a key of a question that types text. It counts for the question if it stays alone;
// followed by another key, it begins a prompt.
type held struct {
	key   tea.KeyPressMsg
	panel *panel.Panel
	at    time.Time
	moved bool // it has moved the view already
	no    bool // it came before the question accepts other answers
}

// strokes are the keys that are pressed while a question is on the screen, for it or for the prompt.
type strokes struct {
	*questions
	held     held
	refusing *refusal                 // waits for the held key; nil for none
	pressed  time.Time                // time of the key before; zero if it sent a prompt
	sent     bool                     // the present key sent a prompt
	moved    time.Time                // time of the last key that moved the view
	silent   func(time.Duration) bool // see keyboard.Silent
}

// refusal asks whether the held key refuses the question with the id. The reply is nil if not.
type refusal struct {
	id    string
	reply chan *confirm.Verdict
	no    *confirm.Verdict
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
