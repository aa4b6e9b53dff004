package repl

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/session"
)

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

// edit opens the proposed text in the user's editor. The saved text becomes the proposal, and
// the question stays open.
func (qs *questions) edit() tea.Cmd {
	p := qs.panel
	name, text, _ := p.Proposal()
	cmd, result, err := qs.opt.Editor(name, text)
	if err != nil {
		qs.out.Problem(err)
		qs.release()
		return nil
	}
	return tea.Exec(jobcontrol.Exec(cmd, qs.opt.Terminal.In, qs.opt.Terminal.Out, qs.scr), func(err error) tea.Msg {
		defer crash.Guard()
		text, err2 := result() // also cleans up
		return editedMsg{panel: p, text: text, err: errors.Join(err, err2)}
	})
}

// edited adopts the text saved by the user. If the question was answered or withdrawn
// meanwhile, a changed text becomes a draft.
func (qs *questions) edited(ed editedMsg) tea.Cmd {
	if ed.err != nil {
		qs.out.Notice("The editor failed, so the proposal is unchanged: " + ed.err.Error())
	}
	if ed.panel != qs.panel {
		if _, text, _ := ed.panel.Proposal(); ed.err == nil && ed.text != text {
			qs.keep(ed.text, "Your text")
		}
		return nil
	}
	text := ed.text
	if ed.err != nil {
		_, text, _ = qs.panel.Proposal()
	}
	qs.panel.Propose(text, qs.opt.Now())
	qs.release()
	return qs.later()
}

// editedMsg is the result of $EDITOR.
type editedMsg struct {
	panel *panel.Panel
	text  string
	err   error
}
