package edit

import "github.com/bb2d0cf4/agent/internal/repl/keys"

// Key handles an action that inserts a newline, moves, deletes or restores, and reports whether it is
// one.
func (t *Text) Key(a keys.Action) bool {
	inCut := t.ring.inCut
	t.ring.rest()
	switch a {
	case keys.Newline:
		t.Edit(Other, func() { t.Insert(Newline) })
	case keys.UndoTyping:
		t.Undo()
	case keys.RedoTyping:
		t.Redo()
	case keys.Yank:
		t.yank()
	case keys.YankOlder:
		t.yankOlder()
	case keys.DeleteLeft:
		t.Drop(max(0, t.At-1), t.At)
	case keys.Delete:
		t.Drop(t.At, min(len(t.Gs), t.At+1))
	default:
		if t.motion(a) {
			return true
		}
		t.ring.inCut = inCut
		t.ring.inCut = t.cutKey(a)
		return t.ring.inCut
	}
	return true
}

// motion handles actions that move the cursor.
func (t *Text) motion(a keys.Action) bool {
	to := t.At
	switch a {
	case keys.Left:
		to--
	case keys.Right:
		to++
	case keys.LineStart:
		to = t.LineStart()
	case keys.LineEnd:
		to = t.LineEnd()
	case keys.TextStart:
		to = 0
	case keys.TextEnd:
		to = len(t.Gs)
	case keys.WordLeft:
		to = t.WordLeft()
	case keys.WordRight:
		to = t.WordRight()
	default:
		return false
	}
	t.MoveTo(to)
	return true
}

// cutKey handles actions that delete more than a glyph and keep it to be yanked. At the end of a
// line they join it with the next.
func (t *Text) cutKey(a keys.Action) bool {
	switch a {
	case keys.DeleteLineRight:
		to := t.LineEnd()
		if to == t.At {
			to = min(len(t.Gs), to+1)
		}
		t.Kill(t.At, to)
	case keys.DeleteLineLeft:
		from := t.LineStart()
		if from == t.At {
			from = max(0, from-1)
		}
		t.Kill(from, t.At)
	case keys.DeleteBlankLeft:
		t.Kill(t.BlankLeft(), t.At)
	case keys.DeleteWordLeft:
		t.Kill(t.WordLeft(), t.At)
	case keys.DeleteWordRight:
		t.Kill(t.At, t.WordRight())
	default:
		return false
	}
	return true
}
