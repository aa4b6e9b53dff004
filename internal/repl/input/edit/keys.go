package edit

// Key handles a key that moves, deletes or restores, and reports whether it is one.
func (t *Text) Key(name string) bool {
	inCut := t.ring.inCut
	t.ring.rest()
	switch name {
	case "ctrl+_", "ctrl+/", "ctrl+shift+-", "ctrl+7":
		t.Undo()
	case "alt+_", "alt+/", "ctrl+alt+_", "alt+shift+-", "ctrl+alt+-":
		t.Redo()
	case "ctrl+y":
		t.yank()
	case "alt+y":
		t.yankOlder()
	case "backspace", "ctrl+h", "shift+backspace":
		t.Drop(max(0, t.At-1), t.At)
	case "delete", "ctrl+d":
		t.Drop(t.At, min(len(t.Gs), t.At+1))
	default:
		if t.motion(name) {
			return true
		}
		t.ring.inCut = inCut
		t.ring.inCut = t.cutKey(name)
		return t.ring.inCut
	}
	return true
}

// motion handles keys that move the cursor.
func (t *Text) motion(name string) bool {
	to := t.At
	switch name {
	case "left", "ctrl+b":
		to--
	case "right", "ctrl+f":
		to++
	case "home", "ctrl+a":
		to = t.LineStart()
	case "end", "ctrl+e":
		to = t.LineEnd()
	case "ctrl+home", "alt+<":
		to = 0
	case "ctrl+end", "alt+>":
		to = len(t.Gs)
	case "alt+b", "ctrl+left", "alt+left":
		to = t.WordLeft()
	case "alt+f", "ctrl+right", "alt+right":
		to = t.WordRight()
	default:
		return false
	}
	t.MoveTo(to)
	return true
}

// cutKey handles keys that delete more than a glyph and keep it for Ctrl+Y. At the end of a
// line they join it with the next.
func (t *Text) cutKey(name string) bool {
	switch name {
	case "ctrl+k":
		to := t.LineEnd()
		if to == t.At {
			to = min(len(t.Gs), to+1)
		}
		t.Kill(t.At, to)
	case "ctrl+u":
		from := t.LineStart()
		if from == t.At {
			from = max(0, from-1)
		}
		t.Kill(from, t.At)
	case "ctrl+w":
		t.Kill(t.BlankLeft(), t.At)
	case "alt+backspace", "ctrl+backspace":
		t.Kill(t.WordLeft(), t.At)
	case "alt+d", "ctrl+delete", "alt+delete":
		t.Kill(t.At, t.WordRight())
	default:
		return false
	}
	return true
}
