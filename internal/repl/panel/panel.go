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
	"github.com/bb2d0cf4/agent/internal/workspace"
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

	body   body
	change *workspace.Change // of one file; nil for any other question
	diff   *diffview.View    // its body
	rev    *revision         // nil unless a proposal for the same file was refused with words
	out    *checked          // the output of the check, while it is shown
	plan   *plan             // the body of several changes
	doc    *document         // the body of a plan in Markdown
	ask    *question         // the body of a question of the model

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
	p.diff, p.out, p.scroll = nil, nil, scroll{}
	switch s := p.req.Subject.(type) {
	case *confirm.Edits:
		if !s.One() {
			p.plan = newPlan(p.req, s, p.look, opt, &p.words)
			p.body = p.plan
			return
		}
		p.change = &s.Changes[0]
		c := change(*p.change, p.req, p.edited)
		p.diff = diffview.New(c, opt)
		p.body, p.rev = p.diff, newRevision(p.req.Refused, c, opt)
	case *confirm.Document:
		p.doc = newDocument(s.Text, p.req.Notes, p.edited, p.look, &p.words)
		p.body = p.doc
	case *confirm.Choice:
		p.ask = newQuestion(*s, p.look)
		p.body = p.ask
	case *confirm.Command:
		p.body = diffview.NewCommand(diffview.Command{
			Line: s.Line, Dir: s.Dir, Timeout: s.Timeout, Background: s.Background, Unconfined: s.Unconfined, Notes: texts(p.req.Notes),
		}, opt)
	case *confirm.Call:
		p.body = diffview.NewCall(diffview.Call{Server: s.Server, Tool: s.Tool, Args: s.Args, Notes: texts(p.req.Notes)}, opt)
	case *confirm.Read, *confirm.Save, *confirm.Fetch, *confirm.Limit:
		p.body = &reading{p.req, p.look}
	}
}

// Restyle adopts the terminal's size and colors.
func (p *Panel) Restyle(look theme.Look) {
	if look.Width != p.look.Width && p.diff != nil {
		p.scroll.seen = 0
	}
	p.look = look
	p.body.Resize(look.Width)
	if p.out != nil {
		p.tried().Resize(look.Width)
	}
	if p.rev != nil {
		p.diff.Resize(look.Width)
		p.rev.view.Resize(look.Width)
	}
}

// Layout returns the current layout of diffs.
func (p *Panel) Layout() diffview.Layout { return p.show.layout }

// Full reports whether the panel wants the whole screen.
func (p *Panel) Full() bool { return p.show.full }

// view returns the diff whose hunks can be left out or commented on; nil without one.
func (p *Panel) view() *diffview.View {
	if p.plan != nil && p.plan.open && p.plan.divides() {
		return p.plan.files[p.plan.cursor].view
	}
	return p.diff
}

// editable reports whether the text that would be written can be edited.
func (p *Panel) editable() bool { return p.doc != nil || p.diff != nil && p.change.Editable() }

// Proposal returns the text that would be written and the name of its file; false if the
// request cannot be edited.
func (p *Panel) Proposal() (name, text string, ok bool) {
	switch {
	case !p.editable():
		return "", "", false
	case p.doc != nil:
		return "plan.md", p.doc.text, true
	}
	return p.change.Name, p.diff.Hunks().Text(), true
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
	if s := p.scroll; s.fits && p.plan != nil && p.plan.open && !p.covered() {
		p.plan.saw(s.offset + s.room)
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
		if p.plan == nil && len(p.left()) > 0 {
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
	if p.req.Tool == undo && p.change != nil {
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
