package diffview

import (
	"sort"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// hunkContext is the number of unchanged lines around a change that belong to its hunk;
// closer changes form one hunk.
const hunkContext = 1

// Hunks are the parts of a change that can be left out. The view shows and counts the ones
// that are kept. They belong to their view.
type Hunks struct {
	view *View
	all  []diff.Hunk
	out  []bool
	mark int // the marked hunk, or -1
}

func newHunks(v *View) *Hunks {
	h := &Hunks{view: v, all: v.diff.Hunks(hunkContext), mark: -1}
	h.out = make([]bool, len(h.all))
	return h
}

// Len returns the number of hunks.
func (h *Hunks) Len() int { return len(h.all) }

// Marked returns the marked hunk, or -1.
func (h *Hunks) Marked() int { return h.mark }

// Mark marks hunk i, or none if i is -1, and returns its first and last line in the body.
func (h *Hunks) Mark(i int) (first, last int) {
	h.mark, h.view.last = i, window{}
	first, end := h.view.body.extent(i + 1)
	return first, max(0, end-1)
}

// Next returns the first hunk with a line at or below line offset of the body, or else the
// last one.
func (h *Hunks) Next(offset int) int {
	b := &h.view.body
	for r := range b.count() {
		if hunk := b.hunk(r); hunk > 0 && b.starts[r+1] > offset {
			return hunk - 1
		}
	}
	return len(h.all) - 1
}

// Toggle leaves hunk i out, or includes it again.
func (h *Hunks) Toggle(i int) {
	h.out[i] = !h.out[i]
	h.view.head()
	h.view.last, h.view.body.painter.tall = window{}, nil
}

// Out returns the hunks left out.
func (h *Hunks) Out() []int {
	var out []int
	for i, gone := range h.out {
		if gone {
			out = append(out, i)
		}
	}
	return out
}

// Counts returns the number of added and removed lines without the hunks left out.
func (h *Hunks) Counts() (added, removed int) {
	for i, hunk := range h.all {
		for _, l := range hunk.Lines {
			switch {
			case h.out[i]:
			case l.Op == diff.Insert:
				added++
			case l.Op == diff.Delete:
				removed++
			}
		}
	}
	return added, removed
}

// Left reports whether hunk i is left out.
func (h *Hunks) Left(i int) bool { return h.out[i] }

// Text returns the new text without the hunks left out.
func (h *Hunks) Text() string {
	return h.view.diff.Compose(func(edit int) bool { return !h.out[h.of(edit)] })
}

// Place returns the position of hunk i in diff notation, and the number of its first line in
// the complete new text.
func (h *Hunks) Place(i int) (header string, line int) {
	hunk := h.all[i]
	for _, l := range hunk.Lines {
		if l.Op == diff.Insert {
			return hunk.Header(), l.B
		}
	}
	return hunk.Header(), max(1, h.view.diff.Edits[hunk.First].BStart)
}

// of returns the hunk of an edit.
func (h *Hunks) of(edit int) int {
	return sort.Search(len(h.all), func(i int) bool { return edit < h.all[i].Last })
}

// number assigns hunks to the rows of changed lines.
func (h *Hunks) number(rows []row) {
	edits := h.view.diff.Edits
	for i := range rows {
		r := &rows[i]
		switch r.op {
		case diff.Delete:
			r.hunk = 1 + h.of(sort.Search(len(edits), func(k int) bool { return r.a <= edits[k].AEnd }))
		case diff.Insert:
			r.hunk = 1 + h.of(sort.Search(len(edits), func(k int) bool { return r.b <= edits[k].BEnd }))
		case diff.Equal:
		}
	}
}

// left reports whether a row belongs to a hunk left out. The view of a committed change has
// no hunks.
func (h *Hunks) left(r *row) bool { return h != nil && r.hunk > 0 && h.out[r.hunk-1] }

// marked reports whether a row belongs to the marked hunk.
func (h *Hunks) marked(r *row) bool { return h != nil && r.hunk > 0 && r.hunk == h.mark+1 }
