package panel

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// document is the body of a request to accept a plan in Markdown.
type document struct {
	usual
	text   string
	edited bool // by the person
	look   theme.Look
	source bool  // show its lines as they are, with numbers, to comment on them
	cursor int   // the marked one, from 0
	first  []int // the first of lines for each, in source
	rows
}

// newDocument returns the document of a request, or the person's version of it.
func newDocument(p *Panel, text string) *document {
	d := &document{usual: usual{panel: p}, text: text, look: p.look}
	if p.edited != nil {
		d.text, d.edited = *p.edited, true
	}
	d.Resize(p.look.Width)
	return d
}

// Header names the document, and explains why it is asked about again.
func (d *document) Header() []string {
	title := "the plan"
	if d.edited {
		title = "the plan, as you edited it"
	}
	lines := hint(d.look, d.look.Styles.User, title)
	for _, n := range d.panel.req.Notes {
		lines = append(lines, hint(d.look, d.look.Styles.Warn, "! "+sanitize.Line(n.Text))...)
	}
	return lines
}

// Resize renders the document for a width in columns.
func (d *document) Resize(width int) {
	d.look.Width = width
	d.render()
}

func (d *document) render() {
	d.rows, d.first = nil, nil
	if !d.source {
		d.rows = markdown.Page(d.text, markdown.Options{Width: d.look.Width, NoColor: d.look.NoColor})
		return
	}
	for i, text := range d.texts() {
		d.first = append(d.first, len(d.rows))
		d.rows = append(d.rows, d.numbered(i, text)...)
		for _, c := range d.panel.words.comments {
			if c.Line == i+1 {
				d.rows = append(d.rows, hint(d.look, d.look.Styles.User, "      ↳ "+sanitize.Line(c.Text))...)
			}
		}
	}
	d.first = append(d.first, len(d.rows))
}

// texts returns the lines of the text.
func (d *document) texts() []string { return strings.Split(strings.TrimRight(d.text, "\n"), "\n") }

// numbered renders a line of the text.
func (d *document) numbered(i int, text string) []string {
	head, style := fmt.Sprintf("  %3d ", i+1), theme.Style{}
	if i == d.cursor {
		head, style = "❯"+head[1:], d.look.Styles.Accent
	}
	text = strings.ReplaceAll(sanitize.Exact(text), "\t", "    ")
	indent := strings.Repeat(" ", len("  123 "))
	var out []string
	if d.look.Width < len(indent)+10 { // the number has a row of its own
		out = append([]string{head}, theme.Wrap(text, "", d.look.Width)...)
	} else {
		out = theme.Wrap(text, indent, d.look.Width)
		out[0] = head + strings.TrimLeft(out[0], " ")
	}
	for j := range out {
		out[j] = theme.Paint(style, out[j])
	}
	return out
}

// show shows the lines of the text with numbers, or the text as Markdown.
func (d *document) show(source bool) {
	d.source = source
	d.render()
	d.panel.scroll.moved()
}

// press handles an action for comments on lines.
func (d *document) press(a keys.Action) bool {
	var by int
	switch {
	case a == keys.Note && !d.source:
		d.show(true)
		return true
	case !d.source:
		return false
	case a == keys.Note:
		d.panel.words.write(d.cursor)
		return true
	case a == keys.QuestionUp, a == keys.HunkPrevious:
		by = -1
	case a == keys.QuestionDown, a == keys.HunkNext, a == keys.FileNext:
		by = 1
	default:
		return false
	}
	d.cursor = min(max(d.cursor+by, 0), len(d.texts())-1)
	d.render()
	d.panel.scroll.reveal(d.first[d.cursor+1] - 1)
	d.panel.scroll.reveal(d.first[d.cursor])
	return true
}

func (d *document) back() bool {
	if !d.source {
		return false
	}
	d.show(false)
	return true
}

func (d *document) label(about int) string {
	if about >= 0 {
		return fmt.Sprintf("on line %d: ", about+1)
	}
	return d.usual.label(about)
}

func (d *document) comment(line int, text string) {
	w := &d.panel.words
	w.comments = append(w.comments, confirm.Comment{Line: line + 1, Quote: d.texts()[line], Text: text})
	d.render()
}

func (d *document) located(c confirm.Comment) string { return c.OnPlan() }

func (d *document) remarks() []string {
	if d.source {
		return nil
	}
	return []string{d.panel.legend.hint("comment on lines", keys.Note)}
}

func (d *document) proposal() (name, text string, ok bool) { return "plan.md", d.text, true }

// about describes the marked line and its keys.
func (d *document) about() []string {
	if !d.source {
		return nil
	}
	place := fmt.Sprintf("line %d of %d", d.cursor+1, len(d.texts()))
	if n := len(d.panel.words.comments); n > 0 {
		place += ", " + plural.Of(n, "comment")
	}
	return append([]string{place, d.panel.legend.hint("comment on it", keys.Note)}, d.panel.legend.neighbors()...)
}

// planModes are the permission modes to go on in, by the answer.
var planModes = map[keys.Action]string{keys.Approve: "default", keys.ApproveSession: "accept-edits"}

// verdict returns the answer of an action; yes reports that all of the document was visible.
func (d *document) verdict(a keys.Action, yes bool) (confirm.Verdict, bool) {
	v := confirm.Verdict{By: me, Comments: d.panel.words.comments}
	switch mode := planModes[a]; {
	case a == keys.Reject:
		return v, true
	case mode == "" || !yes:
		return v, false
	default:
		v.Decision, v.Mode = confirm.Approve, mode
	}
	if d.edited {
		v.Texts = confirm.Text(d.text)
	}
	return v, true
}

func (*document) names() [3]string {
	return [3]string{"carry it out, ask for each edit", "carry it out, accept edits", "no, keep planning"}
}

// answers returns the keys that answer a request to accept a plan.
func (d *document) answers() []string {
	p := d.panel
	names := d.names()
	return []string{
		p.answer.hint(keys.Approve, names[0], true), p.answer.hint(keys.ApproveSession, names[1], true),
		p.answer.hint(keys.Reject, names[2], true), p.legend.hint("say what to change", keys.Comment), p.legend.hint("edit", keys.Edit),
		p.legend.hint("keys", keys.MoreKeys), p.legend.esc(),
	}
}
