package input

import tea "charm.land/bubbletea/v2"

// Handle takes a key.
func (e *Editor) Handle(key tea.KeyPressMsg) Action {
	action := e.dispatch(key)
	e.follow()
	return action
}

func (e *Editor) dispatch(key tea.KeyPressMsg) Action {
	if e.past.searching {
		if action, used := e.past.key(&e.text, key); used {
			return action
		}
	}
	if e.list.open() {
		if action, used := e.list.key(&e.text, key.Keystroke()); used {
			return action
		}
	}
	if isText(key) {
		e.text.inCut = false
		e.text.typed(key.Text)
		return Handled
	}
	switch name := key.Keystroke(); name {
	case "enter":
		return e.enter()
	case "shift+enter", "alt+enter", "ctrl+j", "ctrl+enter":
		e.text.edit(other, func() { e.text.insert(newline) })
	case "up", "ctrl+p":
		return e.vertical(-1)
	case "down", "ctrl+n":
		return e.vertical(1)
	case "ctrl+r":
		e.past.startSearch(&e.text)
		e.list.close()
	case "ctrl+d":
		if e.Empty() {
			return Ignored // the caller's: the end of the input
		}
		e.text.key(name)
	default:
		if !e.text.key(name) {
			return Ignored
		}
	}
	return Handled
}

// isText says whether a key is text. Ctrl and Alt together are AltGr.
func isText(key tea.KeyPressMsg) bool {
	const altGr = tea.ModCtrl | tea.ModAlt
	mod := key.Mod & (altGr | tea.ModSuper | tea.ModMeta | tea.ModHyper)
	return key.Text != "" && tidy(key.Text) == key.Text && (mod == 0 || mod == altGr)
}

// enter submits, or breaks the line in the place of a backslash.
func (e *Editor) enter() Action {
	t := &e.text
	if t.at == 0 || t.gs[t.at-1].text != `\` {
		return Submit
	}
	t.edit(other, func() {
		t.remove(t.at-1, t.at)
		t.insert(newline)
	})
	return Handled
}

// vertical moves up or down: to the next row of the text, and from the first and the
// last one into the history.
func (e *Editor) vertical(step int) Action {
	t, v := &e.text, &e.view
	rs := rows(t.gs, v.width)
	row := rowOf(rs, t.at)
	to := row + step
	if to < 0 || to >= len(rs) {
		return e.past.walk(t, step)
	}
	if v.goalOf != t.version() {
		v.goal = column(t.gs, rs[row], t.at, v.width)
	}
	t.moveTo(nearest(t.gs, rs[to], v.goal))
	v.goalOf = t.version()
	return Handled
}

// follow lets the list follow the text.
func (e *Editor) follow() {
	if e.seen == e.text.version() {
		return
	}
	e.seen = e.text.version()
	if e.past.searching || e.past.walks(&e.text) {
		e.list.close() // a recalled /command opens no list
		return
	}
	e.list.update(&e.text.buffer)
}
