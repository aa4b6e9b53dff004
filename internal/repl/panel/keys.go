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
		if p.req.Tool != undo && p.plan == nil {
			p.note = input.New(input.Options{NoColor: p.look.NoColor})
		}
	case "e":
		if _, _, ok := p.Proposal(); ok {
			return Edit, confirm.Verdict{}
		}
	case "esc":
		if !p.back() {
			return Cancel, confirm.Verdict{}
		}
	case "ctrl+c", "shift+tab", "ctrl+z":
		return Ignored, confirm.Verdict{}
	default:
		p.browse(name)
	}
	return Handled, confirm.Verdict{}
}

// back leaves what was looked at more closely; false if nothing is.
func (p *Panel) back() bool {
	switch {
	case p.plan != nil && p.plan.open:
		p.plan.show(false, &p.scroll)
	case p.full:
		p.full = false
	default:
		return false
	}
	return true
}

// verdict returns the answer that a key stands for. It approves what is shown.
func (p *Panel) verdict(key string) (confirm.Verdict, bool) {
	yes := p.scroll.fits && hidden(p) == 0
	v := confirm.Verdict{By: me}
	if p.plan != nil {
		if p.plan.open {
			return v, false // an answer is about all files: it is given where they are listed
		}
		v.Except = p.plan.except()
		yes = yes && len(v.Except) < len(p.plan.files)
	}
	switch {
	case key == "n":
		return confirm.Verdict{By: me}, true
	case key == "y" && yes:
	case key == "a" && yes && !p.req.Force && p.plan == nil:
		v.Session = true
	default:
		return v, false
	}
	v.Decision, v.Text = confirm.Approve, p.edited
	return v, true
}

// browse changes what is shown of the body.
func (p *Panel) browse(key string) {
	if p.plan != nil && p.plan.press(key, &p.scroll) {
		return
	}
	switch key {
	case "x":
		if p.diff != nil {
			p.diff.Expand(!p.diff.Expanded())
			p.scroll.offset = 0
		}
	case "v":
		p.full = !p.full
	case "l":
		p.queue = !p.queue
	case "q":
		p.back()
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
