package panel

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/input"
)

// me is who answers here, see confirm.Verdict.
const me = "terminal"

// Outcome says what a key came to.
type Outcome int

// The outcomes.
const (
	Ignored  Outcome = iota // the key is none of the panel's
	Handled                 // the panel may look different
	Answered                // the verdict is the answer
	Edit                    // the user wants to edit the proposal first
	Cancel                  // the user wants the turn to stop
)

// Press takes a key. A panel that is not armed takes none.
func (p *Panel) Press(key tea.KeyPressMsg) (Outcome, confirm.Verdict) {
	switch {
	case !p.armed:
		return Ignored, confirm.Verdict{}
	case p.note != nil:
		return p.pressNote(key)
	}
	name := key.String()
	if v, ok := p.verdict(name); ok {
		return Answered, v
	}
	switch name {
	case "c":
		if p.req.Tool == undo {
			break
		}
		p.note = input.New(input.Options{NoColor: p.look.NoColor})
	case "e":
		if _, _, ok := p.Proposal(); ok {
			return Edit, confirm.Verdict{}
		}
	case "esc":
		if !p.full {
			return Cancel, confirm.Verdict{}
		}
		p.full = false
	case "ctrl+c", "shift+tab", "ctrl+z":
		return Ignored, confirm.Verdict{}
	default:
		p.browse(name)
	}
	return Handled, confirm.Verdict{}
}

// verdict returns the answer that a key stands for. It approves the text that is
// shown.
func (p *Panel) verdict(key string) (confirm.Verdict, bool) {
	yes := p.fits && hidden(p) == 0
	v := confirm.Verdict{By: me}
	switch {
	case key == "n":
		return v, true
	case key == "y" && yes:
	case key == "a" && yes && !p.req.Force:
		v.Session = true
	default:
		return v, false
	}
	v.Decision, v.Text = confirm.Approve, p.edited
	return v, true
}

// browse changes what is shown of the body.
func (p *Panel) browse(key string) {
	switch key {
	case "x":
		if p.diff != nil {
			p.diff.Expand(!p.diff.Expanded())
			p.scroll.offset = 0
		}
	case "v":
		p.full = !p.full
	case "q":
		p.full = false
	case "up", "k":
		p.scroll.by(-1, p.body.Len())
	case "down", "j":
		p.scroll.by(1, p.body.Len())
	case "pgup", "ctrl+u":
		p.scroll.by(-p.scroll.room, p.body.Len())
	case "pgdown", "ctrl+d", "space":
		p.scroll.by(p.scroll.room, p.body.Len())
	case "home", "g":
		p.scroll.by(-p.body.Len(), p.body.Len())
	case "end", "G":
		p.scroll.by(p.body.Len(), p.body.Len())
	}
}

// pressNote takes a key while the comment is typed.
func (p *Panel) pressNote(key tea.KeyPressMsg) (Outcome, confirm.Verdict) {
	switch {
	case key.String() == "esc":
		p.note = nil
	case p.note.Handle(key) == input.Submit:
		text := strings.TrimSpace(p.note.Take())
		p.note = nil
		if text != "" {
			return Answered, confirm.Verdict{By: me, Feedback: text}
		}
	}
	return Handled, confirm.Verdict{}
}
