package repl

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// View returns the live region or, if something covers the screen, the whole of it.
func (m *model) View() tea.View {
	now := m.current()
	below, cursor := m.lower(now)
	if lines, at := m.cover(len(below)); lines != nil {
		return tea.View{Content: strings.Join(lines, "\n"), Cursor: at, AltScreen: true}
	}
	lines := append(m.upper(m.look.Height-1-len(below), now.Work), below...)
	cursor.Y += len(lines) - len(below)
	return tea.View{Content: strings.Join(lines, "\n"), Cursor: cursor}
}

// cover returns the view that covers the screen: a page, a panel that wants all of it or
// does not fit above the lines below. It is nil if nothing does.
func (m *model) cover(below int) ([]string, *tea.Cursor) {
	if lines := m.view.view(); lines != nil {
		return lines, nil
	}
	p := m.ask.panel
	if p == nil || m.menu.pick != nil || !p.Full() && p.Fits(m.room(m.look.Height-1-below)-1) {
		return nil, nil
	}
	if note, _ := p.Note(); note == nil && !p.PromptHasKeys {
		return p.View(m.look.Height), nil
	}
	typed, cursor := m.inputArea()
	lines := p.View(max(0, m.look.Height-len(typed)))
	cursor.Y += len(lines)
	return append(lines, typed...), cursor
}

// lower returns the fixed part: queue, spinner, prompt and status line.
func (m *model) lower(now app.Status) ([]string, *tea.Cursor) {
	out := []string{""}
	for _, q := range m.sched.queue.list() {
		line := theme.Short("  queued: "+sanitize.Line(strings.ToValidUTF8(q[:min(len(q), 1000)], "")), m.look.Width)
		out = append(out, theme.Paint(m.look.Styles.Dim, line))
	}
	for i, j := range m.sched.beside {
		line := "/" + j.name + " is being answered"
		if i == len(m.sched.beside)-1 && m.ask.panel == nil {
			line += " · " + m.sched.turn.stopKey + " stops it"
		}
		out = append(out, theme.Paint(m.look.Styles.Dim, theme.Short(line, m.look.Width)))
	}
	if m.sched.turn.running {
		out = append(out, m.sched.turn.line(m.look, m.ask.panel != nil))
	} else if j := m.sched.command; j != nil && j.slow && m.ask.panel == nil && m.menu.pick == nil {
		out = append(out, theme.Paint(m.look.Styles.Dim, theme.Short("/"+j.name+" runs · "+m.sched.turn.stopKey+" stops", m.look.Width)))
	}
	lines, cursor := m.inputArea()
	cursor.Y += len(out)
	return slices.Concat(out, lines, m.footer(now)), cursor
}

// inputArea returns the text being typed: the prompt, or a comment.
func (m *model) inputArea() ([]string, *tea.Cursor) {
	ed, label := m.ed, m.ed.Sign()
	if p := m.ask.panel; p != nil {
		if note, before := p.Note(); note != nil {
			ed, label = note, before
		}
	}
	indent := cells.Width(label)
	lines, x, y := ed.View(max(1, m.look.Width-indent), max(1, m.look.Height/3))
	prefix := theme.Paint(m.look.Styles.Accent, label)
	for i, l := range lines {
		lines[i] = prefix + l
		prefix = strings.Repeat(" ", indent)
	}
	return lines, tea.NewCursor(x+indent, y)
}

// footer returns the status line, or a hint in its place.
func (m *model) footer(now app.Status) []string {
	switch {
	case m.hint.keys:
		lines := m.opt.Terminal.Keys.Brief(m.look.Width)
		for i, l := range lines {
			lines[i] = theme.Paint(m.look.Styles.Dim, l)
		}
		return lines
	case m.hint.text != "":
		return []string{theme.Paint(m.look.Styles.Warn, theme.Short(m.hint.text, m.look.Width))}
	}
	items := m.status(now)
	line := statusLine(m.opt.Terminal.Status, items, m.look.Width)
	before, after, found := strings.Cut(line, items[itemMode])
	if style, loud := m.modeStyle(now.Mode); loud && found {
		dim := m.look.Styles.Dim
		return []string{theme.Paint(dim, before) + theme.Paint(style, items[itemMode]) + theme.Paint(dim, after)}
	}
	return []string{theme.Paint(m.look.Styles.Dim, line)}
}

// modeStyle returns the style of the permission mode. Unusual modes stand out, because they
// change what happens without a question.
func (m *model) modeStyle(mode string) (style theme.Style, loud bool) {
	switch mode {
	case "plan":
		return m.look.Styles.Accent, true
	case "accept-edits":
		return m.look.Styles.Warn, true
	case "bypass":
		return m.look.Styles.Bad.Bold(!m.look.NoColor).Reverse(!m.look.NoColor), true
	}
	return style, false
}

// status returns the items of the status line by name.
func (m *model) status(now app.Status) map[string]string {
	used, context := m.sched.turn.total, m.sched.turn.context
	items := map[string]string{itemFolder: filepath.Base(m.opt.Start.Dir), itemModel: now.Model, itemBranch: now.Branch, itemEditor: now.Editor}
	if now.Mode != "" {
		items[itemMode] = now.Mode + " mode"
		if now.Grants > 0 {
			items[itemMode] += itemSeparator + plural.Of(now.Grants, "grant")
		}
	}
	if n := used.Input + used.Output; n > 0 {
		items[itemTokens] = theme.Count(n) + " tokens"
	}
	if used.CostUSD > 0 {
		items[itemCost] = fmt.Sprintf("$%.2f", used.CostUSD)
	}
	if now.Effort != "" {
		items[itemModel] += itemSeparator + "effort " + now.Effort
	}
	if n := len(now.Jobs); n > 0 {
		items[itemJobs] = plural.Of(n, "job")
	}
	switch {
	case context > 0 && m.sched.turn.window > 0:
		items[itemContext] = fmt.Sprintf("context %d%%", context*100/m.sched.turn.window)
	case context > 0:
		items[itemContext] = "context " + theme.Count(context)
	}
	return items
}

// current returns the state for the status line.
func (m *model) current() app.Status {
	if m.opt.Status == nil {
		return app.Status{}
	}
	return m.opt.Status()
}

// room returns how many of height lines a panel or a picker may take, so that some
// conversation stays visible.
func (m *model) room(height int) int { return max(0, min(height, max(8, m.look.Height*2/3))) }

// upper returns the live part above the prompt, at most height lines: a panel, a picker, or
// the end of the text and the running call.
func (m *model) upper(height int, work app.Work) []string {
	room := m.room(height)
	var lines []string
	switch {
	case m.menu.pick != nil && m.ask.panel != nil:
		waits := "a question is waiting for your answer: " + m.opt.Terminal.Keys.Hint("goes back to it", keys.ListClose)
		lines = append([]string{"", theme.Paint(m.look.Styles.Warn, theme.Short(waits, m.look.Width))}, m.menu.pick.View(m.look.Width, max(0, room-2))...)
	case m.menu.pick != nil:
		lines = append([]string{""}, m.menu.pick.View(m.look.Width, max(0, room-1))...)
	case m.ask.panel != nil:
		lines = append([]string{""}, m.ask.panel.View(room-1)...)
	default:
		lines = m.sched.turn.live(m.look, work)
	}
	return lines[max(0, len(lines)-max(0, height)):]
}

// show brings the model's View to the terminal, along with the lines printed since the last one.
func (m *model) show() tea.View {
	m.scr.announce(m.state())
	v := m.View()
	m.scr.Show(v)
	m.opt.Shown()
	if m.onAlt && !v.AltScreen && m.scr.Single() {
		m.inbox.Put(stream.Conversation)
	}
	if m.onAlt = v.AltScreen; !v.AltScreen {
		m.tidy()
	}
	return v
}
