package panel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/plural"
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
	words  *words
	source bool     // show its lines as they are, with numbers, to comment on them
	cursor int      // the marked one, from 0
	first  []int    // the first of lines for each, in source
	lines  []string // rendered
}

// newDocument returns the document of a request, or the person's version of it.
func newDocument(text string, notes []caution.Note, edited *string, look theme.Look, w *words) *document {
	d := &document{text: text, notes: notes, look: look, words: w}
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
	d.render()
}

func (d *document) render() {
	d.lines, d.first = nil, nil
	if !d.source {
		d.lines = markdown.Render(d.text, markdown.Options{Width: d.look.Width, NoColor: d.look.NoColor})
		return
	}
	for i, text := range d.texts() {
		d.first = append(d.first, len(d.lines))
		d.lines = append(d.lines, d.numbered(i, text)...)
		for _, c := range d.words.comments {
			if c.Line == i+1 {
				d.lines = append(d.lines, hint(d.look, d.look.Styles.User, "      ↳ "+sanitize.Line(c.Text))...)
			}
		}
	}
	d.first = append(d.first, len(d.lines))
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
func (d *document) show(source bool, s *scroll) {
	d.source = source
	d.render()
	s.moved()
}

// press handles a key for comments on lines, and reports whether it is one. comment is set if
// a comment on the marked line begins.
func (d *document) press(key string, s *scroll) (comment, ok bool) {
	var by int
	switch {
	case key == "m" && !d.source:
		d.show(true, s)
		return false, true
	case !d.source:
		return false, false
	case key == "m":
		return true, true
	case slices.Contains([]string{"up", "k", "["}, key):
		by = -1
	case slices.Contains([]string{"down", "j", "]", "tab"}, key):
		by = 1
	default:
		return false, false
	}
	d.cursor = min(max(d.cursor+by, 0), len(d.texts())-1)
	d.render()
	s.reveal(d.first[d.cursor+1] - 1)
	s.reveal(d.first[d.cursor])
	return false, true
}

// comment returns a comment on a line of the text.
func (d *document) comment(line int, text string) confirm.Comment {
	return confirm.Comment{Line: line + 1, Quote: d.texts()[line], Text: text}
}

// about describes the marked line and its keys.
func (d *document) about() []string {
	place := fmt.Sprintf("line %d of %d", d.cursor+1, len(d.texts()))
	if n := len(d.words.comments); n > 0 {
		place += ", " + plural.Of(n, "comment")
	}
	return []string{place, "m comment on it", "] next", "[ previous"}
}

// planModes are the permission modes to go on in, by the letter of the answer.
var planModes = map[string]string{"y": "default", "a": "accept-edits"}

// verdict returns the answer of a key; yes reports that all of the document was visible.
func (d *document) verdict(key string, yes bool) (confirm.Verdict, bool) {
	v := confirm.Verdict{By: me, Comments: d.words.comments}
	switch mode := planModes[key]; {
	case key == "n":
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

// planAnswers returns the keys that answer a request to accept a plan.
func (p *Panel) planAnswers() []string {
	return []string{
		p.choice("y carry it out, ask about edits", true), p.choice("a carry it out, accept edits", true), p.choice("n no, go on planning", true),
		"c say what to change", "e edit", "? keys", p.esc(),
	}
}
