// Package panel shows a question below the conversation and accepts its answer. It guarantees
// that a key approves only after the question has been on the screen for a while without any
// key, that a command or a list of files cannot be approved before all of it has been
// visible, and that only the shown text is approved.
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

// undo is the tool that reverts changes: its proposal is not the model's, so a refusal needs
// no reason.
const undo = "undo"

// Around describes the surroundings of the panel.
type Around struct {
	// Remark is a remark of another surface about the question; empty for none.
	Remark string
	// Editor names the editor that can show the question; empty for none.
	Editor string
	// PromptHasKeys reports that the prompt, not the question, has the keys.
	PromptHasKeys bool
	// Take names the key that gives the keys back to the question, if a draft has them.
	Take string
	// Rename puts the user's own keys into a hint; nil keeps the defaults.
	Rename func(hint string) string
}

// Panel is a question on the screen.
type Panel struct {
	Around

	guard
	req    confirm.Request
	look   theme.Look
	edited *string // the proposal after an external edit
	words  words
	rule   ruleMaker

	part part
	body body      // part, rev or out
	rev  *revision // nil unless a proposal for the same file was refused with words
	out  *checked  // the output of the check, while it is shown

	scroll scroll
	show   show
}

// show is the state of the view.
type show struct {
	full   bool      // on the whole screen
	queue  bool      // list all calls of the answer
	keys   bool      // name all keys
	unseen time.Time // time of the warning about the unseen end of a diff; zero after the next key
	whole  bool      // explain why the only hunk cannot be left out, until the next key

	layout diffview.Layout
}

// New returns a panel for req, shown from now on.
func New(req confirm.Request, look theme.Look, layout diffview.Layout, now time.Time) *Panel {
	p := &Panel{req: req, look: look, guard: guard{since: now}, show: show{layout: layout}}
	p.build()
	return p
}

// build creates the body of the request in its current state.
func (p *Panel) build() {
	opt := diffview.Options{Width: p.look.Width, NoColor: p.look.NoColor, Tint: p.look.Tint, Layout: p.show.layout, Whole: p.look.Keys.Whole}
	p.out, p.scroll = nil, scroll{}
	p.part = p.newPart(opt)
	p.body = p.part
}

// newPart creates the body of the request, and compares a change with the refused one.
func (p *Panel) newPart(opt diffview.Options) part {
	of := func(b body) usual { return usual{b, p} }
	switch s := p.req.Subject.(type) {
	case *confirm.Edits:
		if !s.One() {
			return newPlan(p, s, opt)
		}
		c := change(s.Changes[0], p.req, p.edited)
		diff := diffview.New(c, opt)
		p.rev = newRevision(p.req.Refused, c, opt)
		return &single{of(diff), &s.Changes[0], diff}
	case *confirm.Document:
		return newDocument(p, s.Text)
	case *confirm.Choice:
		return newQuestion(p, *s)
	case *confirm.Command:
		return of(diffview.NewCommand(diffview.Command{
			Line: s.Line, Dir: s.Dir, Timeout: s.Timeout, Background: s.Background, Unconfined: s.Unconfined, Notes: texts(p.req.Notes),
		}, opt))
	case *confirm.Call:
		return of(diffview.NewCall(diffview.Call{Server: s.Server, Tool: s.Tool, Args: s.Args, Notes: texts(p.req.Notes)}, opt))
	case *confirm.Limit:
		return limit{of(&reading{p.req, p.look}), s.Step}
	case *confirm.Read, *confirm.Save, *confirm.Fetch:
	}
	return of(&reading{p.req, p.look})
}

// Restyle adopts the terminal's size and colors.
func (p *Panel) Restyle(look theme.Look) {
	if p.one() && look.Width != p.look.Width {
		p.scroll.seen = 0
	}
	p.look = look
	p.part.Resize(look.Width)
	if p.out != nil {
		p.out.Resize(look.Width)
	}
	if p.rev != nil {
		p.rev.view.Resize(look.Width)
	}
}

// Layout returns the current layout of diffs.
func (p *Panel) Layout() diffview.Layout { return p.show.layout }

// Full reports whether the panel wants the whole screen.
func (p *Panel) Full() bool { return p.show.full }

// view returns the diff whose hunks can be left out or commented on; nil without one.
func (p *Panel) view() *diffview.View {
	if l, ok := p.part.(*plan); ok && !l.divides() {
		return nil
	}
	return p.part.onView()
}

// editable reports whether the text that would be written can be edited.
func (p *Panel) editable() bool {
	_, _, ok := p.part.proposal()
	return ok
}

// Proposal returns the text that would be written and the name of its file; false if the
// request cannot be edited.
func (p *Panel) Proposal() (name, text string, ok bool) {
	if !p.editable() {
		return "", "", false
	}
	return p.part.proposal()
}

// texts returns the text of an external edit, for a verdict.
func (p *Panel) texts() map[int]string {
	if p.edited == nil {
		return nil
	}
	return confirm.Text(*p.edited)
}

// Propose replaces the proposal. The panel then counts as new: it accepts no keys for a
// while.
func (p *Panel) Propose(text string, now time.Time) {
	p.edited = nil
	if text != p.req.Facts().Text {
		p.edited = &text
	}
	p.build()
	p.Shown(now)
}

// View returns the panel in at most height lines. If too little of it fits, it cannot be
// approved.
func (p *Panel) View(height int) []string {
	f := p.around(height)
	if (p.show.whole || p.missed != "") && len(f.hints) < len(p.hints(0)) { // the explanation must not take room from the question
		p.show.whole, p.missed = false, ""
		f = p.around(height)
	}
	p.scroll = f.scroll
	if s := p.scroll; s.fits && !p.covered() {
		p.part.saw(s.offset + s.room)
	}
	lines := p.body.Lines(p.scroll.offset, p.scroll.room)
	out := slices.Concat(f.head, lines)
	if p.body.Len() > p.scroll.room {
		where := fmt.Sprintf("lines %d–%d of %d · ", p.scroll.offset+1, p.scroll.offset+len(lines), p.body.Len()) + p.renamed("PgUp PgDn scroll")
		out = append(out, theme.Paint(p.look.Styles.Dim, theme.Short(where, p.look.Width)))
	}
	out = append(out, f.hints...)
	return out[max(0, len(out)-max(0, height)):]
}

// title supplements the header of the body.
func (p *Panel) title() []string {
	out := append(p.calls(), p.heading()...)
	if p.Remark != "" {
		remark := sanitize.Line(p.Remark)
		if p.one() && len(p.left()) > 0 {
			remark += "; with hunks left out, y applies the version shown here"
		}
		out = append(out, hint(p.look, p.look.Styles.Warn, remark)...)
	}
	return out
}

// heading returns the lines about an unusual request: its sub-agent, the effect of an undo,
// its check.
func (p *Panel) heading() []string {
	if p.req.Origin != "" {
		asker := "sub-agent " + sanitize.Line(p.req.Origin)
		return append([]string{theme.Paint(p.look.Styles.Accent, theme.Short(asker, p.look.Width))}, p.checkLine()...)
	}
	if p.req.Tool == undo && p.one() {
		return hint(p.look, p.look.Styles.Accent, sanitize.Line(confirm.As[*confirm.Edits](p.req).Title))
	}
	return p.checkLine()
}

// listed is the maximum number of calls in the list.
const listed = 12

// calls shows the place of the question among the calls of the model's answer.
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
