package dialog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// print writes the text of the page to the scrollback.
func (m *model) print() {
	width := max(10, m.look.Width)
	lines := []string{""}
	lines = append(lines, m.title(width)...)
	for _, text := range m.page.Text {
		rest := strings.TrimLeft(text, " ")
		lines = append(lines, theme.Row([]int{len(text) - len(rest)}, []string{"", sanitize.Line(rest)}, width)...)
	}
	m.text = len(lines) + 1
	m.scr.Print(append(lines, "")...)
}

func (m *model) title(width int) []string {
	return painted(m.look.Styles.Accent, theme.Wrap(sanitize.Line(m.page.Title), "", width))
}

// above returns the title if the text has scrolled it off the screen, above the given number of
// lines.
func (m *model) above(below int) []string {
	if m.text+below <= m.look.Height {
		return nil
	}
	lines := m.title(max(10, m.look.Width))
	return lines[:min(len(lines), max(1, m.look.Height/3))]
}

// View returns the choices or fields.
func (m *model) View() tea.View {
	width, room := m.look.Width, max(1, m.look.Height-3)
	dim := func(s string) string { return theme.Paint(m.look.Styles.Dim, theme.Short(s, width)) }
	if len(m.page.Choices) == 0 {
		lines, cursor := m.fields(width)
		above := m.above(len(lines) + 1)
		cursor.Y += len(above)
		return tea.View{Content: strings.Join(slices.Concat(above, lines, []string{dim(m.fieldsHint())}), "\n"), Cursor: cursor}
	}
	rows := m.rows(width)
	above := m.above(len(rows) + 1)
	if len(rows) == 0 || len(above)+len(rows) > room {
		above = m.above(len(m.page.Choices) + 1)
		rows = m.pick.View(width, max(1, room-len(above)))
	}
	lines := slices.Concat(above, rows)
	if !m.armed {
		return tea.NewView(strings.Join(append(lines, ""), "\n"))
	}
	hint := initial.Hint("", keys.ListUp, keys.ListDown, keys.Choose) + " · " + m.escHint()
	if f := m.pick.Filter(); f != "" {
		hint = "filter: " + f + " · " + hint
	} else if n := len(m.page.Choices); n <= maxNumber {
		hint = fmt.Sprintf("%d–%d · ", m.page.number(0), m.page.number(n-1)) + hint
	}
	return tea.NewView(strings.Join(append(lines, dim(sanitize.Line(hint))), "\n"))
}

// rows lays out the choices, if they have numbers: the number, the title and beside it, or below it
// without room, the detail. A filter is made of digits, too, so there are no numbers beside it.
func (m *model) rows(width int) (lines []string) {
	if len(m.page.Choices) > maxNumber {
		return nil
	}
	const number = 4
	titles, word := 0, 0
	for _, c := range m.page.Choices {
		titles = max(titles, cells.Width(sanitize.Line(c.Title))+2)
		for w := range strings.FieldsSeq(sanitize.Line(c.Detail)) {
			word = max(word, cells.Width(w))
		}
	}
	room := width - number - titles
	selected, _ := m.pick.Selected()
	for _, i := range m.pick.Matches() {
		title, detail := sanitize.Line(m.page.Choices[i].Title), sanitize.Line(m.page.Choices[i].Detail)
		st, mark := theme.Style{}, " "
		if m.pick.Filter() == "" {
			mark = strconv.Itoa(m.page.number(i))
		}
		if i == selected {
			st, mark = m.look.Styles.Selected, mark+" ›"
		}
		switch {
		case room >= max(word, width*2/5):
			detail = strings.Join(painted(m.look.Styles.Dim, theme.Wrap(detail, "", room)), "\n")
			lines = append(lines, theme.Row([]int{number, titles}, []string{theme.Paint(st, mark), theme.Paint(st, title), detail}, 0)...)
		default:
			lines = append(lines, painted(st, theme.Row([]int{number}, []string{mark, title}, width))...)
			if detail != "" {
				lines = append(lines, painted(m.look.Styles.Dim, theme.Row([]int{number}, []string{"", detail}, width))...)
			}
		}
	}
	return lines
}

func painted(s theme.Style, lines []string) []string {
	for i, l := range lines {
		lines[i] = theme.Paint(s, l)
	}
	return lines
}

// fields returns the fields, one per line, and the cursor.
func (m *model) fields(width int) (lines []string, cursor *tea.Cursor) {
	for i, f := range m.page.Fields {
		value := sanitize.Line(m.values[i])
		if n := utf8.RuneCountInString(m.values[i]); f.Secret && n > 0 {
			value = fmt.Sprintf("%s %d characters", strings.Repeat("•", min(n, 12)), n)
		}
		label := sanitize.Line(f.Label) + ": "
		if !f.Secret && cells.Width(label+value) >= width { // show the end, where the cursor is
			for value != "" && cells.Width(label+value) >= width-1 {
				n, _ := cells.First(value)
				value = value[n:]
			}
			value = "…" + value
		}
		line := theme.Short(label+value, width)
		if i == m.at {
			cursor = tea.NewCursor(min(cells.Width(line), width-1), i)
		}
		lines = append(lines, line)
	}
	return lines, cursor
}

func (m *model) fieldsHint() string {
	switch {
	case m.at < len(m.values)-1:
		return initial.Hint("continues", keys.Send) + " · " + m.escHint()
	case len(m.values) > 1:
		return initial.Hint("confirms", keys.Send) + " · " + initial.Hint("field above", keys.Previous) + " · " + m.escHint()
	}
	return initial.Hint("confirms", keys.Send) + " · " + m.escHint()
}

func (m *model) escHint() string {
	switch {
	case !m.page.Back:
		return initial.Hint("exits", keys.Stop)
	case m.look.Width < 46:
		return initial.Hint("back", keys.Stop)
	}
	return initial.Hint("back", keys.Stop) + " · " + initial.Hint("exits", keys.Interrupt)
}
