package panel

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// changes is the changes of a question about files, or what covers them.
type changes struct {
	*Panel
	rev *revision // nil unless a proposal for the same file was refused with words
	out *checked  // the output of the check, while it is shown
}

// hunks returns the hunks that can be left out or commented on, or nil.
func (d *changes) hunks() *diffview.Hunks { return d.part.hunks() }

// left returns the hunks left out.
func (d *changes) left() []int {
	if h := d.hunks(); h != nil {
		return h.Out()
	}
	return nil
}

// pressHunk handles an action for hunks and reports whether it is one.
func (d *changes) pressHunk(a keys.Action) bool {
	h := d.hunks()
	_, several := d.part.(*plan)
	switch {
	case h == nil || d.covered():
		return false
	case several && (h.Len() == 1 && a == keys.LeaveOut || a == keys.FileNext): // of the file
		return false
	case a == keys.Note && d.comments():
		d.comment(h)
		return true
	case a == keys.LeaveOut && h.Len() == 1: // the only hunk cannot be left out
		d.show.whole = d.body.Len() <= d.scroll.room
		d.show.keys = d.show.keys && !d.show.whole // replaces the list of keys
		return d.show.whole                        // otherwise Space pages down
	}
	return d.moveHunk(h, a)
}

// moveHunk handles an action that marks a hunk or leave it out.
func (d *changes) moveHunk(h *diffview.Hunks, a keys.Action) bool {
	marked := h.Marked()
	switch {
	case a == keys.HunkNext, a == keys.FileNext:
		d.mark(min(max(marked+1, 0), h.Len()-1))
		if marked < 0 {
			d.mark(h.Next(d.scroll.offset))
		}
	case a == keys.HunkPrevious:
		d.mark(max(marked-1, 0))
	case a == keys.LeaveOut && marked < 0:
		d.mark(h.Next(d.scroll.offset)) // it must be visible before it is left out
	case a == keys.LeaveOut:
		h.Toggle(marked)
		d.mark(marked)
	default:
		return false
	}
	return true
}

// comment begins a comment on the marked hunk, or on the next one.
func (d *changes) comment(h *diffview.Hunks) {
	if h.Marked() < 0 {
		d.mark(h.Next(d.scroll.offset))
	}
	d.words.write(h.Marked())
}

// mark marks a hunk and makes it visible.
func (d *changes) mark(i int) {
	first, last := d.view().Hunks().Mark(i)
	const more = 2 // lines that the header and the hints may add for a hunk
	if s := &d.scroll; first < s.offset || last >= s.offset+s.room-more {
		s.offset = max(0, first-1) // with one line of context
		s.kept = true
	}
}

// comments reports whether the person may comment on hunks.
func (d *changes) comments() bool {
	l, ok := d.part.(*plan)
	return !ok || l.edits.Review
}

// expand shows or folds the unchanged lines; it returns false without a diff.
func (d *changes) expand() bool {
	switch {
	case d.view() == nil || d.out != nil:
		return false
	case d.rev.shown():
		d.rev.view.Expand(!d.rev.view.Expanded())
		d.scroll.top()
	default:
		d.view().Expand(!d.view().Expanded())
		d.moved()
	}
	return true
}

// arrange switches between the split and the unified layout; it returns false without a diff.
func (d *changes) arrange() bool {
	views := d.part.views()
	if len(views) == 0 || d.out != nil {
		return false
	}
	d.show.layout = diffview.Split
	if views[0].Split() {
		d.show.layout = diffview.Unified
	}
	for _, v := range views {
		v.Arrange(d.show.layout)
	}
	if d.rev.shown() {
		d.scroll.top()
		return true
	}
	d.moved()
	return true
}

// moved goes to the top of a diff that was laid out anew, or to its marked hunk, on which the
// keys act: its lines seen before do not count.
func (d *changes) moved() {
	d.scroll.top()
	d.part.moved()
	if h := d.hunks(); h != nil && h.Marked() >= 0 {
		d.mark(h.Marked())
	}
}

// partial tells the model which part of a change was approved.
func partial(h *diffview.Hunks, v *confirm.Verdict) {
	out := h.Out()
	v.Texts = confirm.Text(h.Text())
	v.Feedback = fmt.Sprintf("I accepted %d of the %d hunks of this change and left out the rest.", h.Len()-len(out), h.Len())
	for _, i := range out {
		header, line := h.Place(i)
		v.Comments = append(v.Comments, confirm.Comment{Line: line, Text: "left out: the hunk " + header})
	}
}

// aboutHunk describes the marked hunk and its keys.
func (d *changes) aboutHunk(h *diffview.Hunks) []string {
	left := d.legend.hint("leave it out", keys.LeaveOut)
	if h.Left(h.Marked()) {
		left = d.legend.hint("includes it", keys.LeaveOut)
	}
	place := fmt.Sprintf("hunk %d of %d", h.Marked()+1, h.Len())
	if n := len(d.words.comments); n > 0 {
		place += ", " + plural.Of(n, "comment")
	}
	out := []string{place}
	if h.Len() > 1 {
		out = append(out, left)
	}
	if d.comments() {
		out = append(out, d.legend.hint("comment on it", keys.Note))
	}
	if h.Len() > 1 {
		out = append(out, d.legend.neighbors()...)
	}
	return out
}

// layoutKeys returns the keys for the layout of the diff on view.
func (d *changes) layoutKeys(view *diffview.View) []string {
	if d.rev.shown() {
		view = d.rev.view
	}
	out := []string{d.legend.hint("unfold", keys.Expand)}
	if view.Expanded() {
		out[0] = d.legend.hint("fold", keys.Expand)
	}
	switch {
	case view.Split():
		out = append(out, d.legend.hint("one below the other", keys.Layout))
	case view.Splits():
		out = append(out, d.legend.hint("side by side", keys.Layout))
	}
	return out
}
