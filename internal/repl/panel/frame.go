package panel

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// fewLines is the number of lines of a longer body that must fit for a yes.
const fewLines = 3

// minWidth is the width of a terminal, in columns, below which a row may be cut.
const minWidth = 12

// frame is everything around the body, and the part of the body that fits.
type frame struct {
	*Panel
	head, hints []string
	scroll      scroll
}

// Fits reports whether height lines are enough to answer.
func (p *Panel) Fits(height int) bool { return newFrame(p, height).scroll.fits }

// newFrame returns the frame of a panel of height lines. It names the keys that work once the
// panel is on the screen.
func newFrame(p *Panel, height int) frame {
	f := frame{Panel: p}
	f.lay(height, 0)
	n := p.part.hidden(f.scroll.seen)
	if n == 0 || !f.scroll.fits {
		return f
	}
	f.lay(height, n)
	left := p.part.hidden(f.scroll.seen)
	if full := p.legend.lines(left); left > 0 && len(full) <= len(f.hints) {
		f.hints = full
	} else {
		few := p.legend.brief(left)
		f.hints = few[max(0, len(few)-len(f.hints)):] // no room for more
	}
	return f
}

// lay makes the frame for height lines, with a report of n unseen ones. If not even a few lines of the body fit,
// it first drops additional information, then all but the essential keys.
func (f *frame) lay(height, n int) {
	p := f.Panel
	body := p.body.Header()
	few := min(fewLines, p.body.Len())
	room := func() int {
		room := height - len(f.head) - len(f.hints)
		if p.body.Len() > room {
			room-- // for the report
		}
		return room
	}
	f.head, f.hints = append(f.title(), body...), p.legend.lines(n)
	if room() < few {
		f.head = append(f.heading(), body...)
	}
	if room() < few && !p.show.keys {
		f.hints = p.legend.brief(n)
	}
	fits := room() >= few && p.look.Width >= minWidth
	if !fits && !p.show.keys && p.words.ed == nil && p.rule.ed == nil && !p.PromptHasKeys {
		said := strings.Join([]string{"too little room: enlarge the window", p.Keys.Hint("no", keys.Reject), p.legend.esc()}, " · ")
		f.hints = []string{theme.Paint(p.look.Styles.Warn, theme.Short(said, p.look.Width))}
	}
	f.scroll = f.shown(max(1, room()), fits)
}

// shown returns the part of the body that fits in room lines.
func (f *frame) shown(room int, fits bool) scroll {
	p := f.Panel
	s := p.scroll
	s.room, s.fits = room, fits
	if v := p.diff.onView(); v != nil && !s.kept {
		s.offset = v.Begin(room)
	}
	s.by(0, p.body.Len())
	if !p.diff.covered() {
		p.part.shown(&s)
	}
	return s
}

// onView returns the diff that the body shows; nil without one.
func (d *changes) onView() *diffview.View {
	switch {
	case d.out != nil:
		return nil
	case d.rev.shown():
		return d.rev.view
	}
	return d.part.onView()
}

// title supplements the header of the body.
func (f *frame) title() []string {
	out := append(f.calls(), f.heading()...)
	if f.Remark != "" {
		remark := sanitize.Line(f.Remark)
		if f.diff.one() && len(f.diff.left()) > 0 {
			remark += "; with hunks left out, " + f.Keys.Hint("applies the version shown here", keys.Approve)
		}
		out = append(out, hint(f.look, f.look.Styles.Warn, remark)...)
	}
	return out
}

// heading returns the lines about an unusual request: its sub-agent, the effect of an undo,
// its check.
func (f *frame) heading() []string {
	if f.req.Origin != "" {
		asker := "sub-agent " + sanitize.Line(f.req.Origin)
		return append([]string{theme.Paint(f.look.Styles.Accent, theme.Short(asker, f.look.Width))}, f.diff.checkLine()...)
	}
	if f.req.Tool == undo && f.diff.one() {
		return hint(f.look, f.look.Styles.Accent, sanitize.Line(confirm.As[*confirm.Edits](f.req).Title))
	}
	return f.diff.checkLine()
}

// listed is the maximum number of calls in the list.
const listed = 12

// calls shows the place of the question among the calls of the model's answer.
func (f *frame) calls() []string {
	b, dim := f.req.Batch, f.look.Styles.Dim
	if b.Total < 2 || len(b.Calls) != b.Total {
		return nil
	}
	if !f.show.queue {
		line := fmt.Sprintf("call %d of %d", b.Index+1, b.Total)
		if next := b.Calls[b.Index+1:]; len(next) > 0 {
			line += " · then " + strings.Join(next[:min(len(next), listed)], ", ")
		}
		return []string{theme.Paint(dim, theme.Short(sanitize.Line(line), f.look.Width))}
	}
	var out []string
	from := max(0, min(b.Index-listed/2, b.Total-listed))
	for i := from; i < min(b.Total, from+listed); i++ {
		line, style := fmt.Sprintf("  %d of %d  %s", i+1, b.Total, b.Calls[i]), dim
		switch {
		case i == b.Index:
			line, style = "❯"+line[1:], f.look.Styles.Accent
		case i < len(b.Done) && b.Done[i] != "":
			line += " · " + b.Done[i]
		}
		out = append(out, theme.Paint(style, theme.Short(sanitize.Line(line), f.look.Width)))
	}
	return out
}
