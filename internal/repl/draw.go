package repl

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// draw hands the live region to the screen, which writes what changed.
func (m *model) draw() {
	if m.look.width == 0 {
		return // before the first size is known
	}
	if m.ask != nil && m.ask.full {
		m.scr.SetTail(m.ask.view(m.look.st, m.look.width, m.look.height), nil)
		m.scr.Flush()
		return
	}
	lower, cursor := m.lower()
	lines := append(m.upper(m.look.height-1-len(lower)), lower...)
	if cursor != nil {
		cursor.Y += len(lines) - len(lower)
	}
	m.scr.SetTail(lines, cursor)
	m.scr.Flush()
}

// lower is the fixed part: queue, spinner, prompt and status line.
func (m *model) lower() ([]string, *screen.Cursor) {
	width, st := m.look.width, m.look.st
	out := []string{""}
	for _, q := range m.ui.queue.list() {
		out = append(out, paint(st.dim, short("  queued: "+sanitize.Line(q), width)))
	}
	if m.turn.running {
		out = append(out, short(m.progress(), width))
	}
	ed, label := m.ed, "❯ "
	if m.ask != nil && m.ask.note != nil {
		ed, label = m.ask.note, "no, because: "
	}
	indent := ansi.StringWidth(label)
	lines, x, y := ed.View(max(1, width-indent), max(1, m.look.height/3))
	cursor := &screen.Cursor{X: x + indent, Y: y + len(out)}
	prefix := paint(st.accent, label)
	for _, l := range lines {
		out = append(out, prefix+l)
		prefix = strings.Repeat(" ", indent)
	}
	return append(out, m.footer()), cursor
}

// footer is the status line, or a hint in its place.
func (m *model) footer() string {
	st, width := m.look.st, m.look.width
	if m.hint != "" {
		return paint(st.warn, short(m.hint, width))
	}
	var parts []string
	if m.ui.opt.Status != nil {
		s := m.ui.opt.Status()
		parts = append(parts, s.Model)
		if s.Branch != "" {
			parts = append(parts, s.Branch)
		}
		if s.ContextWindow > 0 && m.turn.context > 0 {
			parts = append(parts, fmt.Sprintf("context %d%%", m.turn.context*100/s.ContextWindow))
		}
	}
	if m.ui.opt.Modes != nil {
		parts = append(parts, m.ui.opt.Modes.Current()+" mode")
	}
	if m.turn.total.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", m.turn.total.CostUSD))
	}
	return paint(st.dim, short(sanitize.Line(strings.Join(parts, " · ")), width))
}

// progress is the spinner's line.
func (m *model) progress() string {
	t, st := &m.turn, m.look.st
	parts := []string{t.doing}
	if t.title != "" {
		parts[0] = "running"
	}
	if t.doing == "" && t.title == "" {
		parts[0] = "working"
	}
	if m.ask != nil {
		parts[0] = "waiting for your answer"
	}
	parts = append(parts, seconds(m.ui.opt.Now().Sub(t.started)))
	if n := t.total.Input + t.total.Output; n > 0 {
		parts = append(parts, count(n)+" tokens")
	}
	return paint(st.accent, spinner[t.spinner%len(spinner)]) + paint(st.dim, " "+strings.Join(parts, " · ")+" · Esc stops")
}

// upper is what is live above the prompt, in at most height lines: the end of
// the text, the running call, a panel or a picker.
func (m *model) upper(height int) []string {
	if height <= 0 {
		return nil
	}
	switch {
	case m.ask != nil:
		return append([]string{""}, m.ask.view(m.look.st, m.look.width, min(height, m.panelHeight())-1)...)
	case m.pick != nil:
		return append([]string{""}, m.pick.View(m.look.width, min(height, m.panelHeight())-1)...)
	}
	lines := append([]string{}, m.turn.tail...)
	lines = append(lines, m.running()...)
	if len(lines) > height {
		lines = lines[len(lines)-height:]
	}
	return lines
}

// panelHeight leaves the conversation above a panel in sight.
func (m *model) panelHeight() int {
	if m.ask != nil && m.ask.full {
		return m.look.height
	}
	return max(8, m.look.height*2/3)
}

// running is the call that runs now, with the end of its output.
func (m *model) running() []string {
	if m.turn.title == "" {
		return nil
	}
	st, width := m.look.st, m.look.width
	out := []string{"", short(paint(st.accent, "◦")+" "+m.turn.title, width)}
	text := strings.TrimRight(sanitize.StripANSI(m.turn.output), "\n")
	if text == "" {
		return out
	}
	lines := strings.Split(text, "\n")
	if len(lines) > outputLines {
		lines = lines[len(lines)-outputLines:]
	}
	for _, l := range lines {
		out = append(out, paint(st.dim, short("  "+strings.ReplaceAll(l, "\t", "    "), width)))
	}
	return out
}

// fullScreen shows the panel on the whole screen, or puts it back below the
// conversation.
func (m *model) fullScreen(on bool) {
	if m.ask == nil || m.ask.full == on {
		return
	}
	m.ask.full = on
	if on {
		m.scr.EnterAlt()
	} else {
		m.scr.LeaveAlt()
	}
}
