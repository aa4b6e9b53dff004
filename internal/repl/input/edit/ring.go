package edit

import "slices"

// maxCuts bounds the number of cuts kept.
const maxCuts = 30

// ring holds cut text for Ctrl+Y and Alt+Y. Consecutive cuts are merged.
type ring struct {
	cuts  [][]Glyph // newest last
	inCut bool      // the last key was a cut

	// The last yank: index of the cut, its range in the text, and the edit count.
	turn, from, to, edits int
}

// rest ends a series of cuts.
func (r *ring) rest() { r.inCut = false }

// add keeps a cut, merged with the one before it if that was the previous key.
func (r *ring) add(gone []Glyph, before bool) {
	n := len(r.cuts)
	switch {
	case !r.inCut || n == 0:
		if n == maxCuts {
			r.cuts = slices.Delete(r.cuts, 0, 1)
		}
		r.cuts = append(r.cuts, gone)
	case before:
		r.cuts[n-1] = append(gone, r.cuts[n-1]...)
	default:
		r.cuts[n-1] = slices.Concat(r.cuts[n-1], gone)
	}
}

// Kill cuts the glyphs from i to j.
func (t *Text) Kill(i, j int) {
	if i >= j {
		return
	}
	before := i < t.At
	t.Edit(Other, func() { t.ring.add(t.Remove(i, j), before) })
}

// yank inserts the last cut.
func (t *Text) yank() {
	if n := len(t.ring.cuts); n > 0 {
		t.Edit(Other, func() { t.bring(n - 1) })
		t.ring.edits = t.edits
	}
}

// yankOlder replaces the text just yanked with an older cut.
func (t *Text) yankOlder() {
	r := &t.ring
	if len(r.cuts) == 0 || r.edits != t.edits || t.At != r.to {
		return
	}
	t.Edit(Other, func() {
		t.Remove(r.from, r.to)
		t.bring((r.turn + len(r.cuts) - 1) % len(r.cuts))
	})
	r.edits = t.edits
}

// bring inserts a cut and records its range.
func (t *Text) bring(turn int) {
	from := t.At
	t.Insert(t.ring.cuts[turn]...)
	t.ring.turn, t.ring.from, t.ring.to = turn, min(from, t.At), t.At
}
