// Package panel shows a question below the conversation and takes its answer. It
// guarantees that a key answers only after the question was on the screen for a
// while without any key being pressed, that a command cannot be approved before all
// of it was on the screen, and that what is approved is the text that is shown.
package panel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// guard is how long a panel must have been on the screen, with no key pressed,
// before it takes keys: what was typed ahead never answers.
const guard = 400 * time.Millisecond

// fewLines is how much of a longer body has to fit for a yes.
const fewLines = 3

// undo is the tool that takes back: its proposal is not the model's, and nobody
// needs to be told why not.
const undo = "undo"

// body is what a panel shows of a request: a diffview.View or CommandView.
type body interface {
	scroller
	Header() []string
	Resize(width int)
}

type scroller interface {
	Len() int
	Lines(offset, height int) []string
}

// Panel is a question on the screen.
type Panel struct {
	// Remark is what another surface says about the question; empty: nothing.
	Remark string

	req    confirm.Request
	look   theme.Look
	edited *string       // the proposal after $EDITOR
	note   *input.Editor // open while a comment is typed

	body body
	diff *diffview.View // body, if the request is a change

	scroll scroll
	armed  bool      // takes keys
	since  time.Time // no key since
	full   bool      // on the whole screen
	fits   bool      // enough of the body is on the screen to judge it
}

// scroll is the part of the body that is shown.
type scroll struct {
	offset int // first line shown
	room   int // lines shown
	seen   int // lines that were on the screen so far
}

// by moves the part by n of total lines.
func (s *scroll) by(n, total int) { s.offset = max(0, min(s.offset+n, total-s.room)) }

// New returns a panel for req that is shown from now on.
func New(req confirm.Request, look theme.Look, now time.Time) *Panel {
	p := &Panel{req: req, look: look, since: now}
	p.build()
	return p
}

// build makes the body of the request as it stands.
func (p *Panel) build() {
	opt := diffview.Options{Width: p.look.Width, NoColor: p.look.NoColor}
	p.diff, p.scroll = nil, scroll{}
	if p.req.Change != nil {
		p.diff = diffview.New(change(p.req, p.edited), opt)
		p.body = p.diff
		return
	}
	if c := p.req.Command; c != nil {
		p.body = diffview.NewCommand(diffview.Command{
			Line: c.Line, Dir: c.Dir, Timeout: c.Timeout, Background: c.Background, Notes: p.req.Notes,
		}, opt)
		return
	}
	p.body = reading{p.req, p.look}
}

// change is what a request to write would write.
func change(req confirm.Request, edited *string) diffview.Change {
	c := req.Change
	after := c.After
	if edited != nil {
		after = *edited
	}
	return diffview.Change{
		Name: c.Name, Before: c.Text, After: after, Exists: c.Exists, Delete: c.Delete,
		Encoding: string(c.Format.Encoding), BOM: c.Format.BOM, Mode: c.Mode, Notes: req.Notes,
	}
}

// reading is the body of a request to read outside the workspace, or to have a file
// saved in an editor: all of it is in the header.
type reading struct {
	req  confirm.Request
	look theme.Look
}

// Header names the file, and every remark.
func (r reading) Header() []string {
	text := "read outside the workspace"
	if r.req.Read != nil {
		text += ": " + sanitize.Line(r.req.Read.Path)
	}
	if s := r.req.Save; s != nil {
		text = sanitize.Line("save "+s.Name+" in "+s.Editor) + ": it has unsaved changes there, and the edit is to be made on them"
	}
	lines := theme.Wrap(text, "", r.look.Width)
	for _, n := range r.req.Notes {
		lines = append(lines, hint(r.look, r.look.Styles.Warn, "! "+sanitize.Line(n))...)
	}
	return lines
}

func (reading) Len() int                { return 0 }
func (reading) Lines(int, int) []string { return nil }
func (reading) Resize(int)              {}

// Wait says how long it takes until the panel takes keys, if none is pressed. Once
// it is zero, the panel takes them.
func (p *Panel) Wait(now time.Time) time.Duration {
	wait := max(0, guard-now.Sub(p.since))
	p.armed = p.armed || wait == 0
	if p.armed {
		return 0
	}
	return wait
}

// Disturbed says that something was typed or pasted that was not for the panel.
func (p *Panel) Disturbed(now time.Time) { p.since = now }

// Shown says that the panel is on the screen again after something else covered it:
// what was typed at that does not answer.
func (p *Panel) Shown(now time.Time) { p.armed, p.since = false, now }

// Restyle follows the terminal's size.
func (p *Panel) Restyle(look theme.Look) {
	p.look = look
	p.body.Resize(look.Width)
}

// Full says whether the panel wants the whole screen.
func (p *Panel) Full() bool { return p.full }

// Note returns the editor of the comment that is being typed, or nil.
func (p *Panel) Note() *input.Editor { return p.note }

// Proposal returns the text that would be written now, and the name of its file;
// false if the request is none that can be edited.
func (p *Panel) Proposal() (name, text string, ok bool) {
	if p.diff == nil || p.req.Change.Delete {
		return "", "", false
	}
	return p.req.Change.Name, change(p.req, p.edited).After, true
}

// Propose puts text in the place of the proposal. The panel is as good as new: it
// takes no keys for a while.
func (p *Panel) Propose(text string, now time.Time) {
	p.edited = nil
	if text != p.req.Change.After {
		p.edited = &text
	}
	p.build()
	p.armed, p.since = false, now
}

// View returns the panel in at most height lines. Where not even a few lines of the
// body fit, the remark goes first; where that is not enough, the panel cannot be
// approved: nobody has seen what it is about.
func (p *Panel) View(height int) []string {
	head := append(title(p.req, p.Remark, p.look), p.body.Header()...)
	p.fits = true
	few, others := min(fewLines, p.body.Len()), len(p.hints())+1
	if height-len(head)-others < few {
		head = append(title(p.req, "", p.look), p.body.Header()...)
	}
	p.scroll.room = height - len(head) - others
	p.fits = p.scroll.room >= few
	p.scroll.room = max(1, p.scroll.room)
	p.scroll.by(0, p.body.Len())
	lines := p.body.Lines(p.scroll.offset, p.scroll.room)
	p.scroll.seen = max(p.scroll.seen, p.scroll.offset+len(lines))
	out := slices.Concat(head, lines)
	if p.body.Len() > p.scroll.room {
		where := fmt.Sprintf("lines %d–%d of %d · PgUp/PgDn scroll", p.scroll.offset+1, p.scroll.offset+len(lines), p.body.Len())
		out = append(out, theme.Paint(p.look.Styles.Dim, theme.Short(where, p.look.Width)))
	}
	out = append(out, p.hints()...)
	return out[max(0, len(out)-max(0, height)):]
}

// title says what the body's own header does not.
func title(req confirm.Request, remark string, look theme.Look) []string {
	var out []string
	if req.Tool == undo {
		out = append(out, theme.Paint(look.Styles.Accent, "undo: the file becomes what it was"))
	}
	if remark != "" {
		out = append(out, hint(look, look.Styles.Warn, sanitize.Line(remark))...)
	}
	return out
}

// hidden returns how many lines of a command were never on the screen. Such a
// command cannot be approved yet; a diff can.
func hidden(p *Panel) int {
	if p.diff != nil {
		return 0
	}
	return max(0, p.body.Len()-p.scroll.seen)
}

// hints names the keys that answer.
func (p *Panel) hints() []string {
	st := p.look.Styles
	switch n := hidden(p); {
	case p.note != nil:
		return hint(p.look, st.Dim, "why not? the model reads this · Enter sends · Esc goes back")
	case !p.fits:
		return []string{theme.Paint(st.Warn, theme.Short("too little room: v full screen · n no · Esc cancel", p.look.Width))}
	case n > 0:
		return hint(p.look, st.Warn, fmt.Sprintf("%d more lines: scroll to the end (PgDn) before you say yes · n no · Esc cancel", n))
	}
	style := st.Accent
	if !p.armed {
		style = st.Dim
	}
	return hint(p.look, style, strings.Join(keys(p.req), " · "))
}

// keys names the keys that a request offers.
func keys(req confirm.Request) []string {
	keys := []string{"y yes"}
	if !req.Force {
		keys = append(keys, "a always ("+always(req)+")")
	}
	keys = append(keys, "n no")
	if req.Tool != undo {
		keys = append(keys, "c no, because…")
	}
	if req.Change != nil && req.Tool != undo && !req.Change.Delete {
		keys = append(keys, "e edit")
	}
	if req.Change != nil {
		keys = append(keys, "x unfold", "v full")
	}
	return append(keys, "Esc cancel")
}

func hint(look theme.Look, style theme.Style, text string) []string {
	lines := theme.Wrap(text, "", look.Width)
	for i, l := range lines {
		lines[i] = theme.Paint(style, l)
	}
	return lines
}

// always says what "a" would approve for the rest of the session.
func always(req confirm.Request) string {
	switch {
	case req.Change != nil:
		return req.Tool
	case req.Command != nil:
		return "this command"
	default:
		return "this file"
	}
}
