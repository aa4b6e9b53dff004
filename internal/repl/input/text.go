package input

import "slices"

// maxUndo bounds the changes that can be taken back.
const maxUndo = 200

// change is the kind of an edit; edits of one kind in a row are taken back together.
type change int

const (
	pause change = iota
	typing
	deleting
	other // never joined
)

// text is a buffer that remembers: what to undo, what was cut, and how often it was
// changed.
type text struct {
	buffer
	past   []buffer // before each change
	last   change
	cut    []glyph // what was cut last; cuts in a row add up
	inCut  bool    // the last key was a cut
	pastes int     // placeholders given so far
	edits  int
	moves  int
}

// version differs whenever the text or the cursor may.
func (t *text) version() int { return t.edits + t.moves }

// edit makes a change that undo can take back.
func (t *text) edit(kind change, do func()) {
	if kind != t.last || kind == other {
		t.past = append(t.past, buffer{gs: slices.Clone(t.gs), at: t.at})
		if len(t.past) > maxUndo {
			t.past = slices.Delete(t.past, 0, 1)
		}
	}
	t.last = kind
	do()
	t.edits++
}

// undo takes the last change back.
func (t *text) undo() {
	if n := len(t.past); n > 0 {
		t.buffer = t.past[n-1]
		t.past = t.past[:n-1]
		t.edits++
	}
	t.last = pause
}

// moveTo moves the cursor.
func (t *text) moveTo(at int) {
	t.at = min(max(0, at), len(t.gs))
	t.last = pause
	t.moves++
}

// typed inserts what a key types.
func (t *text) typed(s string) {
	if s == " " {
		t.last = pause // undo goes back word by word
	}
	t.edit(typing, func() { t.insert(glyphs(s)...) })
}

// put inserts s at the cursor, as a placeholder if it is long.
func (t *text) put(s string) {
	t.edit(other, func() { t.insert(t.folded(s)...) })
}

// replace puts s in the place of all that is there.
func (t *text) replace(s string) {
	t.edit(other, func() { t.buffer = buffer{gs: t.folded(s)} })
	t.at = len(t.gs)
}

func (t *text) folded(s string) []glyph {
	lines, long := folds(s)
	if !long {
		return glyphs(s)
	}
	t.pastes++
	return []glyph{fold(s, lines, t.pastes)}
}

// drop deletes the glyphs from i to j.
func (t *text) drop(i, j int) {
	if i < j {
		t.edit(deleting, func() { t.remove(i, j) })
	}
}

// kill cuts the glyphs from i to j.
func (t *text) kill(i, j int) {
	if i >= j {
		return
	}
	before := i < t.at
	t.edit(other, func() {
		gone := t.remove(i, j)
		switch {
		case !t.inCut:
			t.cut = gone
		case before:
			t.cut = append(gone, t.cut...)
		default:
			t.cut = append(t.cut, gone...)
		}
	})
}

// key handles a key that moves, deletes or brings back; false if it is none.
func (t *text) key(name string) bool {
	inCut := t.inCut
	t.inCut = false
	switch name {
	case "ctrl+_", "ctrl+/", "ctrl+shift+-":
		t.undo()
	case "ctrl+y":
		t.edit(other, func() { t.insert(t.cut...) })
	case "backspace", "ctrl+h", "shift+backspace":
		t.drop(max(0, t.at-1), t.at)
	case "delete", "ctrl+d":
		t.drop(t.at, min(len(t.gs), t.at+1))
	default:
		if t.motion(name) {
			return true
		}
		t.inCut = inCut
		t.inCut = t.cutKey(name)
		return t.inCut
	}
	return true
}

// motion handles the keys that move the cursor within the text.
func (t *text) motion(name string) bool {
	to := t.at
	switch name {
	case "left", "ctrl+b":
		to--
	case "right", "ctrl+f":
		to++
	case "home", "ctrl+a":
		to = t.lineStart()
	case "end", "ctrl+e":
		to = t.lineEnd()
	case "ctrl+home", "alt+<":
		to = 0
	case "ctrl+end", "alt+>":
		to = len(t.gs)
	case "alt+b", "ctrl+left", "alt+left":
		to = t.wordLeft()
	case "alt+f", "ctrl+right", "alt+right":
		to = t.wordRight()
	default:
		return false
	}
	t.moveTo(to)
	return true
}

// cutKey handles the keys that delete more than a glyph, and keep it for Ctrl+Y. At
// the end of a line they join it with the next.
func (t *text) cutKey(name string) bool {
	switch name {
	case "ctrl+k":
		to := t.lineEnd()
		if to == t.at {
			to = min(len(t.gs), to+1)
		}
		t.kill(t.at, to)
	case "ctrl+u":
		from := t.lineStart()
		if from == t.at {
			from = max(0, from-1)
		}
		t.kill(from, t.at)
	case "ctrl+w":
		t.kill(t.blankLeft(), t.at)
	case "alt+backspace", "ctrl+backspace":
		t.kill(t.wordLeft(), t.at)
	case "alt+d", "ctrl+delete", "alt+delete":
		t.kill(t.at, t.wordRight())
	default:
		return false
	}
	return true
}
