package theme

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// Columns lays out pairs of texts behind an indent, no line wider than width: the second text
// wraps beside the first, or below it if the first is too long.
func Columns(rows [][2]string, indent string, width int) []string {
	room := max(20, width-cells.Width(indent))
	left := 0
	for _, r := range rows {
		if w := cells.Width(r[0]) + 2; w <= room*2/5 {
			left = max(left, w)
		}
	}
	if left == 0 {
		left = 4
	}
	var out []string
	for _, r := range rows {
		first := r[0]
		if cells.Width(first)+2 > left {
			out, first = append(out, Row([]int{cells.Width(indent)}, []string{indent, first}, cells.Width(indent)+room)...), ""
			if r[1] == "" {
				continue
			}
		}
		out = append(out, Row([]int{cells.Width(indent), left}, []string{indent, first, r[1]}, cells.Width(indent)+room)...)
	}
	return out
}

// Row lays out texts side by side: each but the last in a column of the given width, the last wrapped
// in the rest of width; 0 means that it is not wrapped.
func Row(columns []int, texts []string, width int) []string {
	blocks, last := make([]string, len(texts)), len(texts)-1
	for i, w := range columns {
		blocks[i], width = lipgloss.NewStyle().Width(w).Inline(true).Render(texts[i]), width-w
	}
	blocks[last] = texts[last]
	if width > 0 {
		blocks[last] = strings.Join(wrap(texts[last], max(10, width)), "\n")
	}
	return trimmed(lipgloss.JoinHorizontal(lipgloss.Top, blocks...))
}

// Table lays out rows in columns as wide as their widest text. The columns with one of the given
// numbers, from 0, are aligned at the right.
func Table(rows [][]string, right ...int) []string {
	if len(rows) == 0 {
		return nil
	}
	t := table.New().Rows(rows...).Border(lipgloss.HiddenBorder()).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderHeader(false).StyleFunc(func(_, column int) lipgloss.Style {
		style := lipgloss.NewStyle()
		if column < len(rows[0])-1 {
			style = style.PaddingRight(2)
		}
		if slices.Contains(right, column) {
			style = style.Align(lipgloss.Right)
		}
		return style
	})
	return trimmed(t.Render())
}

// trimmed returns the lines of a text without blanks at their ends.
func trimmed(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}
