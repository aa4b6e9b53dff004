package panel

import (
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// fewLines is how much of a longer body has to fit for a yes.
const fewLines = 3

// frame is what is around the body, and the part of that which it leaves room for.
type frame struct {
	head, hints []string
	scroll      scroll
}

// Fits says whether height lines are enough to answer in.
func (p *Panel) Fits(height int) bool { return p.around(height).scroll.fits }

// around returns the frame for a panel of height lines. The keys that it names are
// those that count once it is on the screen.
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
		f.hints = few[max(0, len(few)-len(f.hints)):] // there is no room for more
	}
	return f
}

// lay makes a frame that says that n lines were never on the screen. Where not even a
// few lines of the body fit, what else is known goes first, then all but the most
// needed keys.
func (p *Panel) lay(height, n int) frame {
	body := p.body.Header()
	few := min(fewLines, p.body.Len())
	room := func(f frame) int {
		room := height - len(f.head) - len(f.hints)
		if p.body.Len() > room {
			room-- // for the line that says so
		}
		return room
	}
	f := frame{head: append(p.title(), body...), hints: p.hints(n)}
	if room(f) < few {
		f.head = append(p.what(), body...)
	}
	if room(f) < few && !p.show.keys {
		f.hints = p.brief(n)
	}
	fits := room(f) >= few
	if !fits && !p.show.keys && p.words.ed == nil && !p.Aside {
		said := p.renamed("too little room: enlarge the window · n no · " + p.esc())
		f.hints = []string{theme.Paint(p.look.Styles.Warn, theme.Short(said, p.look.Width))}
	}
	f.scroll = p.shown(max(1, room(f)), fits)
	return f
}

// shown is the part of the body that is shown in room lines.
func (p *Panel) shown(room int, fits bool) scroll {
	s := p.scroll
	s.room, s.fits = room, fits
	s.by(0, p.body.Len())
	if p.plan != nil && !p.plan.open {
		s.reveal(p.plan.cursor)
	}
	if fits && (p.plan == nil || !p.plan.open) {
		s.seen = max(s.seen, min(p.body.Len(), s.offset+room))
		s.end = s.end || p.diff != nil && s.seen >= p.diff.Changed()
	}
	return s
}

// unseen returns how many lines of a diff there are up to its last change, and how
// many of those were on the screen. It can be approved all the same, by the same key
// once more.
func (p *Panel) unseen() (seen, lines int) {
	if p.diff == nil || p.scroll.end {
		return 0, 0
	}
	return p.scroll.seen, p.diff.Changed()
}

// hidden returns how many lines of a command or of a list were never on the screen.
// What is hidden cannot be approved yet; a diff can.
func (p *Panel) hidden(s scroll) int {
	switch {
	case p.diff != nil:
		return 0
	case p.plan != nil:
		return max(0, len(p.plan.files)-s.seen)
	}
	return max(0, p.body.Len()-s.seen)
}
