package repl

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// viewer is the pager that covers the screen, if open.
type viewer struct {
	out   *printer.Printer
	ask   *questions
	spawn spawner
	keys  keys.Map
	page  *pager.Pager // nil if closed
}

// pageMsg is a page ready to show.
type pageMsg struct{ pager.Page }

// searchMsg continues a search after the keys that have arrived.
type searchMsg struct{ *pager.Pager }

// conversation shows the complete conversation.
func (v *viewer) conversation() tea.Cmd {
	lay := v.out.Record.Page()
	out := make(chan tea.Msg, 1)
	v.spawn(func(context.Context) { out <- pageMsg{lay()} })
	return func() tea.Msg { return <-out }
}

// open shows a page.
func (v *viewer) open(p pager.Page) {
	v.page = pager.New(p, v.out.Look)
	v.page.Keys = v.keys
}

// key handles the key that opens the conversation and, while a page is open, all keys.
func (v *viewer) key(key tea.KeyPressMsg) (tea.Cmd, bool) {
	switch {
	case v.page == nil && v.keys.Is(key, keys.Whole):
		return v.conversation(), true
	case v.page == nil:
		return nil, false
	}
	switch v.page.Press(key) {
	case pager.Searching:
		return v.search(), true
	case pager.Left:
		v.page = nil
	case pager.Handled:
	}
	return nil, true
}

func (v *viewer) search() tea.Cmd {
	p := v.page
	return func() tea.Msg { return searchMsg{p} }
}

// paste adds pasted text to the search text.
func (v *viewer) paste(text string) bool {
	if v.page != nil {
		v.page.Paste(text)
	}
	return v.page != nil
}

func (v *viewer) restyle(look theme.Look) {
	if v.page != nil {
		v.page.Restyle(look)
	}
}

// view returns the whole screen, or nil if no page is open.
func (v *viewer) view() []string {
	if v.page == nil {
		return nil
	}
	v.page.Remark = ""
	if v.ask.panel != nil {
		v.page.Remark = "a question is waiting for your answer: " + v.keys.Hint("goes back to it", keys.PagerClose)
	}
	return v.page.View()
}
