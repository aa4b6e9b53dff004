// Package panel shows a question below the conversation and accepts its answer. It guarantees
// that a key approves only after the question has been on the screen for a while without any
// key, that a command or a list of files cannot be approved before all of it has been
// visible, and that only the shown text is approved.
package panel

import (
	"fmt"
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
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
	// Keys are the keys in force.
	Keys keys.Map
}

// Panel is a question on the screen.
type Panel struct {
	Around

	guard
	req    confirm.Request
	look   theme.Look
	edited *string // the proposal after an external edit

	part   part
	body   body // part, or one that covers it: see changes
	scroll scroll
	show   show

	answer answering
	words  words
	rule   ruleMaker
	diff   changes
	legend legend
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
	p.answer.Panel, p.words.Panel, p.rule.Panel, p.diff.Panel, p.legend.Panel = p, p, p, p, p
	p.build()
	return p
}

// build creates the body of the request in its current state.
func (p *Panel) build() {
	opt := diffview.Options{Width: p.look.Width, NoColor: p.look.NoColor, Tint: p.look.Tint, Layout: p.show.layout, Whole: p.look.Keys.Whole}
	p.diff.out, p.scroll = nil, scroll{}
	p.part = newPart(p, opt)
	p.body = p.part
}

// newPart creates the body of the request, and compares a change with the refused one.
func newPart(p *Panel, opt diffview.Options) part {
	of := func(b body) usual { return usual{b, p} }
	switch s := p.req.Subject.(type) {
	case *confirm.Edits:
		if !s.One() {
			return newPlan(p, s, opt)
		}
		c := change(s.Changes[0], p.req, p.edited)
		diff := diffview.New(c, opt)
		p.diff.rev = newRevision(p.req.Refused, c, opt)
		return &single{of(diff), &s.Changes[0], newFile(s.Changes[0], diff, p.req.Tool != undo)}
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
	if look.Width != p.look.Width {
		p.part.moved()
	}
	p.look = look
	p.part.Resize(look.Width)
	if p.diff.out != nil {
		p.diff.out.Resize(look.Width)
	}
	if p.diff.rev != nil {
		p.diff.rev.view.Resize(look.Width)
	}
}

// Layout returns the current layout of diffs.
func (p *Panel) Layout() diffview.Layout { return p.show.layout }

// Full reports whether the panel wants the whole screen.
func (p *Panel) Full() bool { return p.show.full }

// view returns the diff whose hunks can be left out or commented on; nil without one.
func (d *changes) view() *diffview.View {
	if l, ok := d.part.(*plan); ok && !l.divides() {
		return nil
	}
	return d.part.onView()
}

// editable reports whether the text that would be written can be edited.
func editable(of part) bool {
	_, _, ok := of.proposal()
	return ok
}

// Proposal returns the text that would be written and the name of its file; false if the
// request cannot be edited.
func (p *Panel) Proposal() (name, text string, ok bool) {
	if !editable(p.part) {
		return "", "", false
	}
	return p.part.proposal()
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
	f := newFrame(p, height)
	if (p.show.whole || p.missed != "") && len(f.hints) < len(p.legend.lines(0)) { // the explanation must not take room from the question
		p.show.whole, p.missed = false, ""
		f = newFrame(p, height)
	}
	p.scroll = f.scroll
	if s := p.scroll; s.fits && !p.diff.covered() {
		p.part.saw(s.offset + s.room)
	}
	lines := p.body.Lines(p.scroll.offset, p.scroll.room)
	out := slices.Concat(f.head, lines)
	if p.body.Len() > p.scroll.room {
		where := fmt.Sprintf("lines %d–%d of %d · ", p.scroll.offset+1, p.scroll.offset+len(lines), p.body.Len()) + p.legend.scrolls()
		out = append(out, theme.Paint(p.look.Styles.Dim, theme.Short(where, p.look.Width)))
	}
	out = append(out, f.hints...)
	return out[max(0, len(out)-max(0, height)):]
}
