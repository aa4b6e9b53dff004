package repl

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// viewer is the pager that covers the screen, if one does.
type viewer struct {
	out   *printer.Printer
	ask   *asking
	spawn spawner
	keys  keys.Map
	page  *pager.Pager // nil if none does
}

// paged is a page that is ready to be shown.
type paged struct{ pager.Page }

// tell shows it.
func (p paged) tell(m *model) tea.Cmd {
	m.view.open(p.Page)
	return nil
}

// searchOn goes on with a search, after the keys that have come meanwhile.
type searchOn struct{ *pager.Pager }

// tell looks on, unless the page was left meanwhile.
func (s searchOn) tell(m *model) tea.Cmd {
	if s.Pager == m.view.page && s.Search() {
		return m.view.search()
	}
	return nil
}

// whole shows the conversation, with all that was folded.
func (v *viewer) whole() tea.Cmd {
	lay := v.out.Record.Page()
	out := make(chan tea.Msg, 1)
	v.spawn(func(context.Context) { out <- paged{lay()} })
	return func() tea.Msg { return <-out }
}

// open shows a page.
func (v *viewer) open(p pager.Page) {
	v.page = pager.New(p, v.out.Look)
	v.page.Rename = v.keys.Rename(keys.Pager)
}

// key handles the key that opens the conversation, and all keys while a page is
// shown.
func (v *viewer) key(key tea.KeyPressMsg) (tea.Cmd, bool) {
	switch {
	case v.page == nil && v.keys.Is(key, keys.Whole):
		return v.whole(), true
	case v.page == nil:
		return nil, false
	}
	if !v.page.Typing() {
		key = v.keys.In(keys.Pager, key)
	}
	switch v.page.Press(key.String(), key.Text) {
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
	return func() tea.Msg { return searchOn{p} }
}

// paste puts pasted text into what is looked for.
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

// view is the whole screen, or nil if no page covers it.
func (v *viewer) view() []string {
	if v.page == nil {
		return nil
	}
	v.page.Remark = ""
	if v.ask.panel != nil {
		v.page.Remark = "a question waits for your answer: " + v.keys.Key("pager-close") + " goes back to it"
	}
	return v.page.View()
}
