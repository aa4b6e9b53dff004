package repl

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// View returns the live region or, if something covers the screen, the whole of it.
func (m *model) View() tea.View {
	below, cursor := m.lower()
	if lines, at := m.cover(len(below)); lines != nil {
		return tea.View{Content: strings.Join(lines, "\n"), Cursor: at, AltScreen: true}
	}
	lines := append(m.upper(m.look.Height-1-len(below)), below...)
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
func (m *model) lower() ([]string, *tea.Cursor) {
	out := []string{""}
	for _, q := range m.sched.queue.list() {
		line := theme.Short("  queued: "+sanitize.Line(strings.ToValidUTF8(q[:min(len(q), 1000)], "")), m.look.Width)
		out = append(out, theme.Paint(m.look.Styles.Dim, line))
	}
	if m.sched.turn.running {
		out = append(out, m.sched.turn.line(m.look, m.ask.panel != nil))
	} else if j := m.sched.command; j != nil && j.slow && m.ask.panel == nil && m.menu.pick == nil {
		out = append(out, theme.Paint(m.look.Styles.Dim, theme.Short("/"+j.name+" runs · "+m.sched.turn.stopKey+" stops", m.look.Width)))
	}
	lines, cursor := m.inputArea()
	cursor.Y += len(out)
	return slices.Concat(out, lines, m.footer()), cursor
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
func (m *model) footer() []string {
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
	items := m.status()
	line := statusLine(m.opt.Terminal.Status, items, m.look.Width)
	before, after, found := strings.Cut(line, items[itemMode])
	if style, loud := m.modeStyle(); loud && found {
		dim := m.look.Styles.Dim
		return []string{theme.Paint(dim, before) + theme.Paint(style, items[itemMode]) + theme.Paint(dim, after)}
	}
	return []string{theme.Paint(m.look.Styles.Dim, line)}
}

// modeStyle returns the style of the permission mode. Unusual modes stand out, because they
// change what happens without a question.
func (m *model) modeStyle() (style theme.Style, loud bool) {
	if m.opt.Modes == nil {
		return style, false
	}
	switch m.opt.Modes.Current() {
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
func (m *model) status() map[string]string {
	used, context := m.sched.turn.total, m.sched.turn.context
	items := map[string]string{itemFolder: filepath.Base(m.opt.Start.Dir)}
	if m.opt.Modes != nil {
		items[itemMode] = m.opt.Modes.Current() + " mode"
		switch n := m.opt.Modes.Grants(); {
		case n == 1:
			items[itemMode] += itemSeparator + "1 grant"
		case n > 1:
			items[itemMode] += itemSeparator + strconv.Itoa(n) + " grants"
		}
	}
	if n := used.Input + used.Output; n > 0 {
		items[itemTokens] = theme.Count(n) + " tokens"
	}
	if used.CostUSD > 0 {
		items[itemCost] = fmt.Sprintf("$%.2f", used.CostUSD)
	}
	if m.opt.Status == nil {
		return items
	}
	s := m.opt.Status()
	items[itemModel], items[itemBranch], items[itemEditor] = s.Model, s.Branch, s.Editor
	if s.Effort != "" {
		items[itemModel] += itemSeparator + "effort " + s.Effort
	}
	switch {
	case context > 0 && m.sched.turn.window > 0:
		items[itemContext] = fmt.Sprintf("context %d%%", context*100/m.sched.turn.window)
	case context > 0:
		items[itemContext] = "context " + theme.Count(context)
	}
	return items
}

// room returns how many of height lines a panel or a picker may take, so that some
// conversation stays visible.
func (m *model) room(height int) int { return max(0, min(height, max(8, m.look.Height*2/3))) }

// upper returns the live part above the prompt, at most height lines: a panel, a picker, or
// the end of the text and the running call.
func (m *model) upper(height int) []string {
	room := m.room(height)
	var lines []string
	switch {
	case m.menu.pick != nil && m.ask.panel != nil:
		waits := "a question waits for your answer: " + m.opt.Terminal.Keys.Key("list-close") + " goes back to it"
		lines = append([]string{"", theme.Paint(m.look.Styles.Warn, theme.Short(waits, m.look.Width))}, m.menu.pick.View(m.look.Width, max(0, room-2))...)
	case m.menu.pick != nil:
		lines = append([]string{""}, m.menu.pick.View(m.look.Width, max(0, room-1))...)
	case m.ask.panel != nil:
		lines = append([]string{""}, m.ask.panel.View(room-1)...)
	default:
		lines = m.sched.turn.shown.live(m.look)
	}
	return lines[max(0, len(lines)-max(0, height)):]
}
