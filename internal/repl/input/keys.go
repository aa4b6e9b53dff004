package input

import (
	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/repl/input/vi"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// Handle handles a key.
func (e *Editor) Handle(key tea.KeyPressMsg) Action {
	action := e.dispatch(key)
	e.follow()
	return action
}

func (e *Editor) dispatch(key tea.KeyPressMsg) Action {
	if action, used := e.first(key); used {
		return action
	}
	if isText(key) {
		e.text.Type(key.Text)
		return Handled
	}
	a := e.keys.At(keys.Prompt, key)
	switch {
	case e.suggests(a):
	case a == keys.Send:
		return enter(&e.text)
	case a == keys.Previous:
		return e.vertical(-1)
	case a == keys.Next:
		return e.vertical(1)
	case a == keys.History:
		e.past.startSearch(&e.text)
		e.list.close()
	case a == keys.Delete && e.Empty(), !e.text.Key(a): // the former may be the end of input, for the caller
		return Ignored
	}
	return Handled
}

// first offers a key to the search, the list and vi, in that order, before the text.
func (e *Editor) first(key tea.KeyPressMsg) (action Action, used bool) {
	if e.past.search.open {
		action, used = e.past.key(&e.text, key, e.keys.At(keys.Search, key))
	}
	if !used && e.list.open() {
		action, used = e.list.key(&e.text, e.keys.At(keys.Prompt, key))
	}
	if !used && e.vi != nil {
		action, used = e.viKey(key)
	}
	return action, used
}

// viKey offers a key to vi.
func (e *Editor) viKey(key tea.KeyPressMsg) (Action, bool) {
	text := ""
	if isText(key) {
		text = key.Text
	}
	switch e.vi.Key(&e.text, key, e.keys.At(keys.Prompt, key), text) {
	case vi.Up:
		return e.vertical(-1), true
	case vi.Down:
		return e.vertical(1), true
	case vi.Search:
		e.past.startSearch(&e.text)
	case vi.None:
		return Ignored, false
	case vi.Done:
	}
	return Handled, true
}

// isText reports whether a key types text. Ctrl+Alt is AltGr.
func isText(key tea.KeyPressMsg) bool {
	const altGr = tea.ModCtrl | tea.ModAlt
	mod := key.Mod & (altGr | tea.ModSuper | tea.ModMeta | tea.ModHyper)
	return key.Text != "" && edit.Tidy(key.Text) == key.Text && (mod == 0 || mod == altGr)
}

// enter submits, or replaces a trailing backslash with a newline.
func enter(t *edit.Text) Action {
	if t.At == 0 || t.Gs[t.At-1].Text != `\` {
		return Submit
	}
	t.Edit(edit.Other, func() {
		t.Remove(t.At-1, t.At)
		t.Insert(edit.Newline)
	})
	return Handled
}

// vertical moves up or down: to the next row, and beyond the first or last row into the
// history.
func (e *Editor) vertical(step int) Action {
	t, v := &e.text, &e.view
	rs := edit.Rows(t.Gs, v.width)
	row := edit.RowOf(rs, t.At)
	to := row + step
	if to < 0 || to >= len(rs) {
		return e.past.walk(t, step)
	}
	if v.goalOf != t.Version() {
		v.goal = edit.Column(t.Gs, rs[row], t.At, v.width)
	}
	t.MoveTo(edit.Nearest(t.Gs, rs[to], v.goal))
	v.goalOf = t.Version()
	return Handled
}

// follow updates the list after a change of the text.
func (e *Editor) follow() {
	if e.seen == e.text.Version() {
		return
	}
	e.seen = e.text.Version()
	if e.past.search.open || e.past.walks(&e.text) || e.commanding() {
		e.list.close() // a recalled command opens no list
		return
	}
	e.list.update(&e.text.Buffer)
}
