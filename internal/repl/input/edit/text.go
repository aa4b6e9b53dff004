package edit

import (
	"slices"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// maxUndo bounds the number of changes that can be undone.
const maxUndo = 200

// Change is the kind of an edit; consecutive edits of one kind are undone together.
type Change int

// The kinds of edits.
const (
	Pause Change = iota
	Typing
	Deleting
	Other // never merged
)

// Text is a Buffer with undo, redo, cuts and a count of changes.
type Text struct {
	Buffer
	past   []Buffer // states before each change
	undone []Buffer // undone states, last undone last
	last   Change
	ring   ring
	pastes int // number of placeholders created
	edits  int
	moves  int
}

// Version changes whenever the text or the cursor may have changed.
func (t *Text) Version() int { return t.edits + t.moves }

// Edits changes whenever the text may have changed.
func (t *Text) Edits() int { return t.edits }

// Edit makes a change that can be undone.
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

// Undo reverts the last change.
func (t *Text) Undo() { t.step(&t.past, &t.undone) }

// Redo reverts the last Undo, unless the text has changed since.
func (t *Text) Redo() { t.step(&t.undone, &t.past) }

// step restores the last state of from, and saves the present one in to.
func (t *Text) step(from, to *[]Buffer) {
	if n := len(*from); n > 0 {
		*to = append(*to, t.Clone())
		t.Buffer = (*from)[n-1]
		*from = (*from)[:n-1]
		t.edits++
	}
	t.last = Pause
}

// Set replaces everything with b.
func (t *Text) Set(b Buffer) { t.Edit(Other, func() { t.Buffer = b }) }

// Reset clears the text. Cut text can still be yanked.
func (t *Text) Reset() { *t = Text{ring: t.ring, edits: t.edits + 1, moves: t.moves} }

// MoveTo moves the cursor.
func (t *Text) MoveTo(at int) {
	t.At = min(max(0, at), len(t.Gs))
	t.last = Pause
	t.moves++
}

// Type inserts the text of a key.
func (t *Text) Type(s string) {
	if s == " " {
		t.last = Pause // undo stops at words
	}
	t.ring.rest()
	t.Edit(Typing, func() { t.Insert(Glyphs(s)...) })
}

// Put inserts s at the cursor, as a placeholder if it is long.
func (t *Text) Put(s string) {
	t.Edit(Other, func() { t.Insert(t.folded(s)...) })
}

// Give inserts s at the cursor as typed, unless it is very long.
func (t *Text) Give(s string) {
	if utf8.RuneCountInString(s) > maxShownChars {
		t.Put(s)
		return
	}
	t.Edit(Other, func() { t.Insert(Glyphs(s)...) })
}

// GivePrompt is Give for a prompt: a first character that would make it a command becomes a
// placeholder.
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

// PutMark inserts a placeholder whose text is the placeholder itself.
func (t *Text) PutMark(mark string) {
	show := sanitize.Line(mark)
	t.Edit(Other, func() { t.Insert(Glyph{Text: mark, Show: show, Width: cells.Width(show), Folded: true}) })
}

// Replace replaces the text with s.
func (t *Text) Replace(s string) {
	t.Set(Buffer{Gs: t.folded(s)})
	t.At = len(t.Gs)
}

// folded splits s into glyphs, or returns one placeholder if it is long.
func (t *Text) folded(s string) []Glyph {
	lines, long := folds(s)
	if !long {
		return Glyphs(s)
	}
	t.pastes++
	return []Glyph{fold(s, lines, t.pastes)}
}

// WithPastes returns a copy of the text, or nil if it holds no folded paste.
func (t *Text) WithPastes() *Buffer {
	pasted := func(g Glyph) bool {
		_, long := folds(g.Text)
		return g.Folded && long
	}
	if !slices.ContainsFunc(t.Gs, pasted) {
		return nil
	}
	typed := t.Clone()
	return &typed
}

// Drop deletes the glyphs from i to j.
func (t *Text) Drop(i, j int) {
	if i < j {
		t.Edit(Deleting, func() { t.Remove(i, j) })
	}
}
