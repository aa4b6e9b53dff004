package panel

import (
	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// document is the body of a request to accept a plan in Markdown.
type document struct {
	text   string
	edited bool // by the person
	notes  []caution.Note
	look   theme.Look
	lines  []string // rendered
}

// newDocument returns the document of a request, or the person's version of it.
func newDocument(req confirm.Request, edited *string, look theme.Look) *document {
	d := &document{text: req.Document.Text, notes: req.Notes, look: look}
	if edited != nil {
		d.text, d.edited = *edited, true
	}
	d.Resize(look.Width)
	return d
}

// Header names the document, and explains why it is asked about again.
func (d *document) Header() []string {
	title := "the plan"
	if d.edited {
		title = "the plan, as you edited it"
	}
	lines := hint(d.look, d.look.Styles.User, title)
	for _, n := range d.notes {
		lines = append(lines, hint(d.look, d.look.Styles.Warn, "! "+sanitize.Line(n.Text))...)
	}
	return lines
}

func (d *document) Len() int { return len(d.lines) }

func (d *document) Lines(offset, height int) []string {
	offset = max(0, min(offset, len(d.lines)))
	return d.lines[offset:min(len(d.lines), offset+max(0, height))]
}

// Resize renders the document for a width in columns.
func (d *document) Resize(width int) {
	d.look.Width = width
	d.lines = markdown.Render(d.text, markdown.Options{Width: width, NoColor: d.look.NoColor})
}

// planModes are the permission modes to go on in, by the letter of the answer.
var planModes = map[string]string{"y": "default", "a": "accept-edits"}

// verdict returns the answer of a key; yes reports that all of the document was visible.
func (d *document) verdict(key string, yes bool) (confirm.Verdict, bool) {
	v := confirm.Verdict{By: me}
	switch mode := planModes[key]; {
	case key == "n":
		return v, true
	case mode == "" || !yes:
		return v, false
	default:
		v.Decision, v.Mode = confirm.Approve, mode
	}
	if d.edited {
		v.Text = &d.text
	}
	return v, true
}

// planAnswers returns the keys that answer a request to accept a plan.
func (p *Panel) planAnswers() []string {
	return []string{
		p.choice("y carry it out, ask about edits", true), p.choice("a carry it out, accept edits", true), p.choice("n no, go on planning", true),
		"c say what to change", "e edit", "? keys", p.esc(),
	}
}
