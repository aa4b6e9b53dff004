package panel

import (
	"slices"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// body is the content of a request: a diffview.View or CommandView, a list of files, or a
// header alone.
type body interface {
	scroller
	Header() []string
	Resize(width int)
}

type scroller interface {
	Len() int
	Lines(offset, height int) []string
}

// rows are the lines of a body.
type rows []string

func (r rows) Len() int { return len(r) }

func (r rows) Lines(offset, height int) []string {
	offset = max(0, min(offset, len(r)))
	return r[offset:min(len(r), offset+max(0, height))]
}

// scroll is the visible part of the body.
type scroll struct {
	offset int  // first visible line
	room   int  // visible lines
	seen   int  // lines seen so far, from the top
	fits   bool // enough of the body is visible to judge it
	kept   bool // the person has chosen offset; else a diff begins where its first change is visible
}

// by scrolls by n of total lines.
func (s *scroll) by(n, total int) { s.offset = max(0, min(s.offset+n, total-s.room)) }

// moved resets the position when the lines of the body have changed.
func (s *scroll) moved() { s.top(); s.seen = 0 }

// top goes to where the body begins.
func (s *scroll) top() { s.offset, s.kept = 0, false }

// reveal scrolls by the least distance that makes a line visible.
func (s *scroll) reveal(line int) {
	s.offset = max(min(s.offset, line), line-max(1, s.room)+1)
}

// press handles an action that scrolls, and reports whether it is one and there are more lines
// than fit.
func (s *scroll) press(a keys.Action, total int) bool {
	switch a {
	case keys.QuestionUp:
		s.by(-1, total)
	case keys.QuestionDown:
		s.by(1, total)
	case keys.QuestionPageUp:
		s.by(-s.room, total)
	case keys.QuestionPageDown, keys.LeaveOut:
		s.by(s.room, total)
	case keys.QuestionStart:
		s.by(-total, total)
	case keys.QuestionEnd:
		s.by(total, total)
	default:
		return false
	}
	s.kept = true
	return total > s.room
}

// change returns the change that a request would write.
func change(c workspace.Change, req confirm.Request, edited *string) diffview.Change {
	after := c.After
	if edited != nil {
		after = *edited
	}
	return diffview.Change{
		Name: c.Name, Before: c.Text, After: after, Exists: c.Exists, Delete: c.Delete, To: c.ToName, Size: c.Size,
		Encoding: string(c.Format.Encoding), BOM: c.Format.BOM, Mode: c.Mode, Notes: texts(others(caution.Given(req.Notes))), Revised: req.Refused != nil,
	}
}

// others returns notes without the one that the title of a revised proposal replaces.
func others(notes []caution.Note) []caution.Note {
	return slices.DeleteFunc(notes, func(n caution.Note) bool { return n.Kind == caution.Revised })
}

// texts returns the texts of notes.
func texts(notes []caution.Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Text)
	}
	return out
}

// reading is the body of a question that fits in a line, such as one to read a file: its header
// contains everything.
type reading struct {
	req  confirm.Request
	look theme.Look
}

// Header returns the question and all remarks.
func (r *reading) Header() []string {
	lines := theme.Wrap(r.req.Facts().Line, "", r.look.Width)
	for _, n := range r.req.Notes {
		lines = append(lines, hint(r.look, r.look.Styles.Warn, "! "+sanitize.Line(n.Text))...)
	}
	return lines
}

func (r *reading) Len() int                { return 0 }
func (r *reading) Lines(int, int) []string { return nil }
func (r *reading) Resize(width int)        { r.look.Width = width }
