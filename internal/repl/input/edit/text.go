package edit

import (
	"slices"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// maxUndo bounds the changes that can be taken back.
const maxUndo = 200

// Change is the kind of an edit; edits of one kind in a row are taken back together.
type Change int

// The kinds of edits.
const (
	Pause Change = iota
	Typing
	Deleting
	Other // never joined
)

// Text is a buffer that remembers: what to undo and to redo, what was cut, and how
// often it was changed.
type Text struct {
	Buffer
	past   []Buffer // before each change
	undone []Buffer // what undo has taken back, the last one last
	last   Change
	ring   ring
	pastes int // placeholders given so far
	edits  int
	moves  int
}

// Version differs whenever the text or the cursor may.
func (t *Text) Version() int { return t.edits + t.moves }

// Edits differs whenever the text may.
func (t *Text) Edits() int { return t.edits }

// Edit makes a change that undo can take back.
func (t *Text) Edit(kind Change, do func()) {
	if kind != t.last || kind == Other {
		t.past = append(t.past, t.Clone())
		if len(t.past) > maxUndo {
			t.past = slices.Delete(t.past, 0, 1)
		}
	}
	t.last, t.undone = kind, nil
	do()
	t.edits++
}

// Undo takes the last change back.
func (t *Text) Undo() { t.step(&t.past, &t.undone) }

// Redo makes again what Undo took back last, if nothing was changed since.
func (t *Text) Redo() { t.step(&t.undone, &t.past) }

// step goes to the last state of from, and keeps the present one in to.
func (t *Text) step(from, to *[]Buffer) {
	if n := len(*from); n > 0 {
		*to = append(*to, t.Clone())
		t.Buffer = (*from)[n-1]
		*from = (*from)[:n-1]
		t.edits++
	}
	t.last = Pause
}

// Set puts b in the place of all that is there.
func (t *Text) Set(b Buffer) { t.Edit(Other, func() { t.Buffer = b }) }

// Reset empties the text. What was cut can still be brought back.
func (t *Text) Reset() { *t = Text{ring: t.ring, edits: t.edits + 1, moves: t.moves} }

// MoveTo moves the cursor.
func (t *Text) MoveTo(at int) {
	t.At = min(max(0, at), len(t.Gs))
	t.last = Pause
	t.moves++
}

// Type inserts what a key types.
func (t *Text) Type(s string) {
	if s == " " {
		t.last = Pause // undo goes back word by word
	}
	t.ring.rest()
	t.Edit(Typing, func() { t.Insert(Glyphs(s)...) })
}

// Put inserts s at the cursor, as a placeholder if it is long.
func (t *Text) Put(s string) {
	t.Edit(Other, func() { t.Insert(t.folded(s)...) })
}

// Give inserts s at the cursor, as it was typed, unless it is too long for that.
func (t *Text) Give(s string) {
	if utf8.RuneCountInString(s) > maxShownChars {
		t.Put(s)
		return
	}
	t.Edit(Other, func() { t.Insert(Glyphs(s)...) })
}

// GivePrompt is Give for a prompt: a first character that would make a command of it
// becomes a placeholder.
func (t *Text) GivePrompt(s string) {
	if s == "" || s[0] != '!' && s[0] != '/' || utf8.RuneCountInString(s) > maxShownChars {
		t.Give(s)
		return
	}
	t.Edit(Other, func() {
		t.Insert(Glyph{Text: s[:1], Show: s[:1], Width: 1, Folded: true})
		t.Insert(Glyphs(s[1:])...)
	})
}

// PutMark inserts a placeholder that stands for itself.
func (t *Text) PutMark(mark string) {
	show := sanitize.Line(mark)
	t.Edit(Other, func() { t.Insert(Glyph{Text: mark, Show: show, Width: ansi.StringWidth(show), Folded: true}) })
}

// Replace puts s in the place of all that is there.
func (t *Text) Replace(s string) {
	t.Set(Buffer{Gs: t.folded(s)})
	t.At = len(t.Gs)
}

// folded cuts s into glyphs, or makes one of it if it is long.
func (t *Text) folded(s string) []Glyph {
	lines, long := folds(s)
	if !long {
		return Glyphs(s)
	}
	t.pastes++
	return []Glyph{fold(s, lines, t.pastes)}
}

// Drop deletes the glyphs from i to j.
func (t *Text) Drop(i, j int) {
	if i < j {
		t.Edit(Deleting, func() { t.Remove(i, j) })
	}
}
