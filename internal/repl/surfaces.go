package repl

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Surfaces are other places that show a question, such as an editor. Its methods return
// within a second or so.
type Surfaces interface {
	// Claim reserves the question for the terminal, which is about to edit its proposal. It
	// returns the text as edited elsewhere.
	Claim(ctx context.Context, id string) (text string, edited bool)
	// Release shows the question everywhere again, with text as the proposal.
	Release(ctx context.Context, id, text string)
	// Show brings the question to the front in the editor that Status.Shows names.
	Show(ctx context.Context, id string) error
}

// Inbox items from other surfaces.
type (
	// remark is text beside the question with that id; an empty text removes it.
	remark struct{ id, text string }
	// insertion is text for the prompt.
	insertion struct{ text string }
	// refresh redraws the screen, because the status has changed.
	refresh struct{}
	// namesChanged refreshes the list of completions.
	namesChanged struct{}
)

// Remark shows text beside the question with the given id and replaces an earlier remark; ""
// removes it. Like Insert and Refresh, it is safe for concurrent use and does not block.
func (u *UI) Remark(id, text string) { u.inbox.Put(stream.Aside{Item: remark{id, text}}) }

// Insert inserts text at the prompt's cursor, on one line, between blanks.
func (u *UI) Insert(text string) { u.inbox.Put(stream.Aside{Item: insertion{text}}) }

// Refresh redraws the status line.
func (u *UI) Refresh() { u.inbox.Put(stream.Aside{Item: refresh{}}) }

// NamesChanged refreshes the list of completions: files, resources or commands have changed.
func (u *UI) NamesChanged() { u.inbox.Put(stream.Aside{Item: namesChanged{}}) }

// other handles an item from another surface.
func (m *model) other(item any) {
	switch it := item.(type) {
	case remark:
		m.ask.remark = it
		m.ask.recall()
	case insertion:
		m.ed.InsertWord(sanitize.Line(strings.Join(strings.Fields(it.text), " ")))
	case namesChanged:
		m.ed.NamesChanged()
	case refresh: // only redraws
		m.ask.recall()
	}
}

// recall shows the remark about the open question.
func (qs *questions) recall() {
	if qs.panel == nil {
		return
	}
	if qs.remark.id == qs.q.req.ID {
		qs.panel.Remark = qs.remark.text
	}
	if qs.opt.Surfaces != nil && qs.opt.Status != nil {
		qs.panel.Editor = qs.opt.Status().Shows
	}
}

// open shows the question in the editor.
func (qs *questions) open() {
	id, elsewhere, box := qs.q.req.ID, qs.opt.Surfaces, qs.turn.inbox
	qs.turn.spawn(func(ctx context.Context) {
		if err := elsewhere.Show(ctx, id); err != nil && ctx.Err() == nil {
			box.Put(stream.Aside{Item: session.Notice{Text: err.Error()}})
		}
	})
}

// claimedMsg arrives when the terminal has the question to itself.
type claimedMsg struct {
	panel  *panel.Panel
	text   string
	edited bool
}

// claim reserves the question before its proposal is edited.
func (qs *questions) claim() tea.Cmd {
	p, id, elsewhere := qs.panel, qs.q.req.ID, qs.opt.Surfaces
	switch {
	case qs.opt.Editor == nil || qs.claiming == p:
		return nil
	case elsewhere == nil:
		return qs.edit()
	}
	qs.claiming = p
	out := make(chan tea.Msg, 1)
	qs.turn.spawn(func(ctx context.Context) {
		text, edited := elsewhere.Claim(ctx, id)
		out <- claimedMsg{p, text, edited}
	})
	return func() tea.Msg { return <-out }
}

// apply opens the editor with the proposal as edited elsewhere.
func (c claimedMsg) apply(m *model) tea.Cmd {
	qs := m.ask
	if qs.claiming == c.panel {
		qs.claiming = nil
	}
	if c.panel != qs.panel {
		return nil // answered elsewhere meanwhile
	}
	if c.edited {
		qs.panel.Propose(c.text, qs.opt.Now())
	}
	return qs.edit()
}

// release shows the question on other surfaces again.
func (qs *questions) release() {
	id, elsewhere := qs.q.req.ID, qs.opt.Surfaces
	if elsewhere == nil {
		return
	}
	_, text, _ := qs.panel.Proposal()
	qs.turn.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		elsewhere.Release(ctx, id, text)
	})
}
