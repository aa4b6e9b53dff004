package panel

import (
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// fewLines is the number of lines of a longer body that must fit for a yes.
const fewLines = 3

// minWidth is the width of a terminal, in columns, below which a row may be cut.
const minWidth = 12

// frame is everything around the body, and the part of the body that fits.
type frame struct {
	head, hints []string
	scroll      scroll
}

// Fits reports whether height lines are enough to answer.
func (p *Panel) Fits(height int) bool { return p.around(height).scroll.fits }

// around returns the frame of a panel of height lines. It names the keys that work once the
// panel is on the screen.
func (p *Panel) around(height int) frame {
	f := p.lay(height, 0)
	n := p.hidden(f.scroll)
	if n == 0 || !f.scroll.fits {
		return f
	}
	f = p.lay(height, n)
	left := p.hidden(f.scroll)
	if full := p.hints(left); left > 0 && len(full) <= len(f.hints) {
		f.hints = full
	} else {
		few := p.brief(left)
		f.hints = few[max(0, len(few)-len(f.hints)):] // no room for more
	}
	return f
}

// lay returns a frame that reports n unseen lines. If not even a few lines of the body fit,
// it first drops additional information, then all but the essential keys.
func (p *Panel) lay(height, n int) frame {
	body := p.body.Header()
	few := min(fewLines, p.body.Len())
	room := func(f frame) int {
		room := height - len(f.head) - len(f.hints)
		if p.body.Len() > room {
			room-- // for the report
		}
		return room
	}
	f := frame{head: append(p.title(), body...), hints: p.hints(n)}
	if room(f) < few {
		f.head = append(p.heading(), body...)
	}
	if room(f) < few && !p.show.keys {
		f.hints = p.brief(n)
	}
	fits := room(f) >= few && p.look.Width >= minWidth
	if !fits && !p.show.keys && p.words.ed == nil && p.rule.ed == nil && !p.PromptHasKeys {
		said := p.renamed("too little room: enlarge the window · n no · " + p.esc())
		f.hints = []string{theme.Paint(p.look.Styles.Warn, theme.Short(said, p.look.Width))}
	}
	f.scroll = p.shown(max(1, room(f)), fits)
	return f
}

// shown returns the part of the body that fits in room lines.
func (p *Panel) shown(room int, fits bool) scroll {
	s := p.scroll
	s.room, s.fits = room, fits
	if v := p.onView(); v != nil && !s.kept {
		s.offset = v.Begin(room)
	}
	s.by(0, p.body.Len())
	if !p.covered() {
		p.part.shown(&s)
	}
	return s
}

// onView returns the diff that the body shows; nil without one.
func (p *Panel) onView() *diffview.View {
	switch {
	case p.out != nil:
		return nil
	case p.rev.shown():
		return p.rev.view
	}
	return p.part.onView()
}

// hidden returns the number of lines of a command or a list that have not been visible. They
// block approval, unlike those of a diff.
func (p *Panel) hidden(s scroll) int { return p.part.hidden(s.seen) }
