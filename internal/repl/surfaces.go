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

// Surfaces are the other places on which a question stands, an editor's for
// example. Its methods return within a second or so.
type Surfaces interface {
	// Claim takes the question for the terminal, where its proposal is going to be
	// edited. It returns the text that the user has made of it elsewhere.
	Claim(ctx context.Context, id string) (text string, edited bool)
	// Release shows the question everywhere again, with text as the proposal.
	Release(ctx context.Context, id, text string)
	// Show brings the question to the screen of the editor that Status.Shows names.
	Show(ctx context.Context, id string) error
}

// Items of the feed for what other surfaces tell.
type (
	// remark is said beside the question with the id; an empty text takes it away.
	remark struct{ id, text string }
	// insertion is text for the prompt.
	insertion struct{ text string }
	// refresh has the screen drawn again: the status is another one.
	refresh struct{}
)

// Remark shows text beside the question with the given id, in the place of an
// earlier remark; "" takes it away. It may be called from any goroutine and does
// not block, like Insert and Refresh.
func (u *UI) Remark(id, text string) { u.box.Put(stream.Aside{Item: remark{id, text}}) }

// Insert puts text into the prompt at the cursor, on one line, between blanks.
func (u *UI) Insert(text string) { u.box.Put(stream.Aside{Item: insertion{text}}) }

// Refresh draws the status line again.
func (u *UI) Refresh() { u.box.Put(stream.Aside{Item: refresh{}}) }

// other takes up what another surface tells.
func (m *model) other(item any) {
	switch it := item.(type) {
	case remark:
		m.ask.said = it
		m.ask.recall()
	case insertion:
		m.ed.InsertWord(sanitize.Line(strings.Join(strings.Fields(it.text), " ")))
	case refresh: // the status is drawn as it is
		m.ask.recall()
	}
}

// recall shows what is known elsewhere of the question that stands.
func (a *asking) recall() {
	if a.panel == nil {
		return
	}
	if a.said.id == a.q.req.ID {
		a.panel.Remark = a.said.text
	}
	if a.opt.Surfaces != nil && a.opt.Status != nil {
		a.panel.Editor = a.opt.Status().Shows
	}
}

// open has the editor show the question.
func (a *asking) open() {
	id, elsewhere, box := a.q.req.ID, a.opt.Surfaces, a.turn.box
	a.turn.spawn(func(ctx context.Context) {
		if err := elsewhere.Show(ctx, id); err != nil && ctx.Err() == nil {
			box.Put(stream.Aside{Item: session.Notice{Text: err.Error()}})
		}
	})
}

// claimed is due when the terminal has the question to itself.
type claimed struct {
	panel  *panel.Panel
	text   string
	edited bool
}

// claim takes the question from other surfaces before its proposal is edited.
func (a *asking) claim() tea.Cmd {
	p, id, elsewhere := a.panel, a.q.req.ID, a.opt.Surfaces
	switch {
	case a.opt.Editor == nil:
		return nil
	case elsewhere == nil:
		return a.edit()
	}
	out := make(chan tea.Msg, 1)
	a.turn.spawn(func(ctx context.Context) {
		text, edited := elsewhere.Claim(ctx, id)
		out <- claimed{p, text, edited}
	})
	return func() tea.Msg { return <-out }
}

// tell begins to edit, from what was made of the proposal elsewhere.
func (c claimed) tell(m *model) tea.Cmd {
	a := m.ask
	if c.panel != a.panel {
		return nil // answered elsewhere meanwhile
	}
	if c.edited {
		a.panel.Propose(c.text, a.opt.Now())
	}
	return a.edit()
}

// release shows the question on other surfaces again.
func (a *asking) release() {
	id, elsewhere := a.q.req.ID, a.opt.Surfaces
	if elsewhere == nil {
		return
	}
	_, text, _ := a.panel.Proposal()
	a.turn.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		elsewhere.Release(ctx, id, text)
	})
}
