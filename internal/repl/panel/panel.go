// Package panel shows a question below the conversation and takes its answer. It
// guarantees that a key answers only after the question was on the screen for a
// while without any key being pressed, that a command or a list of files cannot be
// approved before all of it was on the screen, and that what is approved is what is
// shown.
package panel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// undo is the tool that takes back: its proposal is not the model's, and nobody
// needs to be told why not.
const undo = "undo"

// Around is what the panel is told of what is around it.
type Around struct {
	// Remark is what another surface says about the question; empty: nothing.
	Remark string
	// Editor can be asked to show the question; empty: none can.
	Editor string
	// Aside says that the prompt has the keys, and not the question.
	Aside bool
	// Take names what gives them to the question while a draft has them; empty unless
	// one has.
	Take string
	// Rename puts the user's own keys into a hint; nil: they are the usual ones.
	Rename func(hint string) string
}

// Panel is a question on the screen.
type Panel struct {
	Around

	guard
	req    confirm.Request
	look   theme.Look
	edited *string // the proposal after $EDITOR
	words  words

	body body
	diff *diffview.View // body, if the request is a change
	plan *plan          // body, if it is of several files

	scroll scroll
	show   show
}

// show is how much of what there is to be seen is shown.
type show struct {
	full   bool      // on the whole screen
	queue  bool      // all calls of the answer are listed
	keys   bool      // all keys are named
	unseen time.Time // when a yes was warned that the end of the diff was never shown; zero after the next key
	whole  bool      // why what is all of the change cannot be left out of it, until the next key

	layout diffview.Layout
}

// New returns a panel for req that is shown from now on.
func New(req confirm.Request, look theme.Look, layout diffview.Layout, now time.Time) *Panel {
	p := &Panel{req: req, look: look, guard: guard{since: now}, show: show{layout: layout}}
	p.build()
	return p
}

// build makes the body of the request as it stands.
func (p *Panel) build() {
	opt := diffview.Options{Width: p.look.Width, NoColor: p.look.NoColor, Tint: p.look.Tint, Layout: p.show.layout, Whole: p.look.Keys.Whole}
	p.diff, p.scroll = nil, scroll{}
	switch c := p.req.Command; {
	case p.req.Change != nil:
		p.diff = diffview.New(change(p.req, p.edited), opt)
		p.body = p.diff
	case p.req.Plan != nil:
		p.plan = newPlan(p.req, p.look, opt)
		p.body = p.plan
	case c != nil:
		p.body = diffview.NewCommand(diffview.Command{
			Line: c.Line, Dir: c.Dir, Timeout: c.Timeout, Background: c.Background, Notes: texts(p.req.Notes),
		}, opt)
	default:
		p.body = &reading{p.req, p.look}
	}
}

// Restyle follows the terminal's size.
func (p *Panel) Restyle(look theme.Look) {
	if look.Width != p.look.Width && p.diff != nil {
		p.scroll.seen = 0
	}
	p.look = look
	p.body.Resize(look.Width)
}

// Layout returns how the panel places the texts of a diff.
func (p *Panel) Layout() diffview.Layout { return p.show.layout }

// Full says whether the panel wants the whole screen.
func (p *Panel) Full() bool { return p.show.full }

// Proposal returns the text that would be written now, and the name of its file;
// false if the request is none that can be edited.
func (p *Panel) Proposal() (name, text string, ok bool) {
	if p.diff == nil || p.req.Change.Delete {
		return "", "", false
	}
	return p.req.Change.Name, p.diff.Hunks().Text(), true
}

// Propose puts text in the place of the proposal. The panel is as good as new: it
// takes no keys for a while.
func (p *Panel) Propose(text string, now time.Time) {
	p.edited = nil
	if text != p.req.Change.After {
		p.edited = &text
	}
	p.build()
	p.Shown(now)
}

// View returns the panel in at most height lines. Where too little of it fits, it
// cannot be approved: nobody has seen what it is about.
func (p *Panel) View(height int) []string {
	f := p.around(height)
	if p.show.whole && len(f.hints) < len(p.hints(0)) { // a reason takes no room from what it is about
		p.show.whole = false
		f = p.around(height)
	}
	p.scroll = f.scroll
	lines := p.body.Lines(p.scroll.offset, p.scroll.room)
	out := slices.Concat(f.head, lines)
	if p.body.Len() > p.scroll.room {
		where := fmt.Sprintf("lines %d–%d of %d · ", p.scroll.offset+1, p.scroll.offset+len(lines), p.body.Len()) + p.renamed("PgUp PgDn scroll")
		out = append(out, theme.Paint(p.look.Styles.Dim, theme.Short(where, p.look.Width)))
	}
	out = append(out, f.hints...)
	return out[max(0, len(out)-max(0, height)):]
}

// title says what the body's own header does not.
func (p *Panel) title() []string {
	out := append(p.calls(), p.what()...)
	if p.Remark != "" {
		remark := sanitize.Line(p.Remark)
		if len(p.left()) > 0 {
			remark += "; with hunks left out, y takes what is shown here"
		}
		out = append(out, hint(p.look, p.look.Styles.Warn, remark)...)
	}
	return out
}

// what names what is not an ordinary edit.
func (p *Panel) what() []string {
	if p.req.Tool == undo && p.req.Change != nil {
		return hint(p.look, p.look.Styles.Accent, "undo: the file becomes what it was")
	}
	return nil
}

// listed is how many calls of an answer are listed.
const listed = 12

// calls places the question among the calls of the model's answer.
func (p *Panel) calls() []string {
	b, dim := p.req.Batch, p.look.Styles.Dim
	if b.Total < 2 || len(b.Calls) != b.Total {
		return nil
	}
	if !p.show.queue {
		line := fmt.Sprintf("call %d of %d", b.Index+1, b.Total)
		if next := b.Calls[b.Index+1:]; len(next) > 0 {
			line += " · then " + strings.Join(next[:min(len(next), listed)], ", ")
		}
		return []string{theme.Paint(dim, theme.Short(sanitize.Line(line), p.look.Width))}
	}
	var out []string
	from := max(0, min(b.Index-listed/2, b.Total-listed))
	for i := from; i < min(b.Total, from+listed); i++ {
		line, style := fmt.Sprintf("  %d of %d  %s", i+1, b.Total, b.Calls[i]), dim
		switch {
		case i == b.Index:
			line, style = "❯"+line[1:], p.look.Styles.Accent
		case i < len(b.Done) && b.Done[i] != "":
			line += " · " + b.Done[i]
		}
		out = append(out, theme.Paint(style, theme.Short(sanitize.Line(line), p.look.Width)))
	}
	return out
}
