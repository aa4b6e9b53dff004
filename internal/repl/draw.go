package repl

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/repl/screen"

	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// draw hands the live region to the screen, which writes what changed.
func (m *model) draw() {
	m.scr.tell(m.state())
	below, cursor := m.lower()
	if lines, at := m.whole(len(below)); lines != nil {
		m.scr.SetAlt(true)
		m.scr.SetTail(lines, at)
		m.scr.Flush()
		return
	}
	m.scr.SetAlt(false)
	lines := append(m.upper(m.look.Height-1-len(below)), below...)
	cursor.Y += len(lines) - len(below)
	m.scr.SetTail(lines, &cursor)
	m.scr.Flush()
	m.tidy()
}

// whole is what covers the screen: a page, or a panel that was given all of it, or for
// which there is too little room above the lines below. It is nil if nothing does.
func (m *model) whole(below int) ([]string, *screen.Cursor) {
	if lines := m.view.view(); lines != nil {
		return lines, nil
	}
	p := m.ask.panel
	if p == nil || m.menu.pick != nil || !p.Full() && p.Fits(m.room(m.look.Height-1-below)-1) {
		return nil, nil
	}
	if note, _ := p.Note(); note == nil && !p.Aside {
		return p.View(m.look.Height), nil
	}
	typed, cursor := m.typed()
	lines := p.View(max(0, m.look.Height-len(typed)))
	cursor.Y += len(lines)
	return append(lines, typed...), &cursor
}

// lower is the fixed part: queue, spinner, prompt and status line.
func (m *model) lower() ([]string, screen.Cursor) {
	out := []string{""}
	for _, q := range m.floor.queue.List() {
		line := theme.Short("  queued: "+sanitize.Line(strings.ToValidUTF8(q[:min(len(q), 1000)], "")), m.look.Width)
		out = append(out, theme.Paint(m.look.Styles.Dim, line))
	}
	if m.floor.turn.running {
		out = append(out, m.floor.turn.line(m.look, m.ask.panel != nil))
	} else if j := m.floor.held; j != nil && j.slow && m.ask.panel == nil && m.menu.pick == nil {
		out = append(out, theme.Paint(m.look.Styles.Dim, theme.Short("/"+j.name+" runs · "+m.floor.turn.stopKey+" stops", m.look.Width)))
	}
	lines, cursor := m.typed()
	cursor.Y += len(out)
	return slices.Concat(out, lines, m.footer()), cursor
}

// typed is the text that is typed: the prompt, or what is said of a question.
func (m *model) typed() ([]string, screen.Cursor) {
	ed, label := m.ed, m.ed.Sign()
	if p := m.ask.panel; p != nil {
		if note, before := p.Note(); note != nil {
			ed, label = note, before
		}
	}
	indent := ansi.StringWidth(label)
	lines, x, y := ed.View(max(1, m.look.Width-indent), max(1, m.look.Height/3))
	prefix := theme.Paint(m.look.Styles.Accent, label)
	for i, l := range lines {
		lines[i] = prefix + l
		prefix = strings.Repeat(" ", indent)
	}
	return lines, screen.Cursor{X: x + indent, Y: y}
}

// footer is the status line, or a hint in its place.
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

// modeStyle returns the style of the permission mode, if it is not the usual one: what
// may happen without a question is seen at a glance.
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

// status is what the status line may show, by name.
func (m *model) status() map[string]string {
	used, context := m.floor.turn.total, m.floor.turn.context
	items := map[string]string{itemFolder: filepath.Base(m.opt.Start.Dir)}
	if m.opt.Modes != nil {
		items[itemMode] = m.opt.Modes.Current() + " mode"
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
	switch {
	case context > 0 && m.floor.turn.window > 0:
		items[itemContext] = fmt.Sprintf("context %d%%", context*100/m.floor.turn.window)
	case context > 0:
		items[itemContext] = "context " + theme.Count(context)
	}
	return items
}

// room is how many of height lines a panel or a picker may take: the conversation
// stays in sight.
func (m *model) room(height int) int { return max(0, min(height, max(8, m.look.Height*2/3))) }

// upper is what is live above the prompt, in at most height lines: a panel, a
// picker, or the end of the text and the running call.
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
		lines = m.floor.turn.shown.Live(m.look)
	}
	return lines[max(0, len(lines)-max(0, height)):]
}
