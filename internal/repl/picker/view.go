package picker

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Limits of the columns and the preview.
const (
	maxCell     = 24 // columns of one cell
	minTitle    = 20 // columns of a title, before cells are dropped
	maxPreview  = 8  // lines
	leastHeight = 9  // minimum height of a list with a preview
)

// widths returns the widths of the columns of cells.
func widths(items []Item) []int {
	var out []int
	for _, it := range items {
		for len(out) < len(it.Cells) {
			out = append(out, 0)
		}
		for i, c := range it.Cells {
			out[i] = max(out[i], min(cells.Width(c), maxCell))
		}
	}
	return out
}

// View returns at most height lines, none wider than width columns: the picker's title and
// filter, if it has a title, then the items around the cursor, then the preview.
func (p *Picker) View(width, height int) []string {
	var lines []string
	line := func(spans ...paint.Span) {
		lines = append(lines, paint.Line(p.opt.NoColor, paint.Truncate(spans, width)...))
	}
	preview := p.preview(height)
	height -= len(preview)
	if p.opt.Title != "" && height > 1 {
		line(p.head()...)
		height--
	}
	if len(p.matches) == 0 && height > 0 {
		line(paint.Span{Text: "  nothing matches", Style: theme.Dim})
	}
	p.scroll(height)
	for i := p.top; i < min(p.top+height, len(p.matches)); i++ {
		line(p.row(i, width)...)
	}
	for _, l := range preview {
		line(paint.Span{Text: "  │ " + l, Style: theme.Dim})
	}
	return lines
}

// preview returns the preview of the item under the cursor, if height leaves room for it.
func (p *Picker) preview(height int) []string {
	i, ok := p.Selected()
	if !ok || height < leastHeight || p.items[i].Preview == nil {
		return nil
	}
	lines, known := p.shown[i]
	if !known {
		text := sanitize.Text(strings.TrimSpace(p.items[i].Preview()))
		if text != "" {
			lines = strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
		}
		p.shown[i] = lines
	}
	room := min(maxPreview, height/3)
	return lines[max(0, len(lines)-room):]
}

func (p *Picker) head() []paint.Span {
	k := p.opt.Keys
	hints := "type to filter · " + k.Hint("", keys.ListUp, keys.ListDown, keys.Choose) + " · " + k.Hint("", keys.ListClose)
	return []paint.Span{
		{Text: sanitize.Line(p.opt.Title), Style: theme.Title},
		{Text: " " + sanitize.Line(p.filter)},
		{Text: "▏", Style: theme.Dim},
		{Text: fmt.Sprintf(" %d of %d · ", len(p.matches), len(p.items)) + hints, Style: theme.Dim},
	}
}

// scroll keeps the cursor on the screen.
func (p *Picker) scroll(height int) {
	p.top = min(p.top, p.cursor, max(0, len(p.matches)-height))
	p.top = max(p.top, p.cursor-height+1, 0)
}

// row returns the ith match in width columns.
func (p *Picker) row(i, width int) []paint.Span {
	m := p.matches[i]
	it := p.items[m.Index]
	mark, base := "  ", paint.Style{}
	if i == p.cursor {
		mark, base = "› ", theme.Selected
	}
	spans := []paint.Span{{Text: mark, Style: base}}
	at := 0
	for _, hit := range m.At {
		_, n := utf8.DecodeRuneInString(it.Title[hit:])
		spans = append(spans, paint.Span{Text: it.Title[at:hit], Style: base},
			paint.Span{Text: it.Title[hit : hit+n], Style: theme.Match.Over(base)})
		at = hit + n
	}
	spans = append(spans, paint.Span{Text: it.Title[at:], Style: base})
	if at, ok := p.texts.hits[m.Index]; ok {
		spans = append(spans, p.texts.passage(m.Index, at)...)
	}
	if it.Detail != "" {
		spans = append(spans, paint.Span{Text: "  " + it.Detail, Style: theme.Dim})
	}
	return p.withCells(spans, it, width)
}

// withCells appends the cells of it at the right edge, as many as leave room for a title.
func (p *Picker) withCells(spans []paint.Span, it Item, width int) []paint.Span {
	count, room := 0, width
	for count < len(p.cells) && room-2-p.cells[count] >= minTitle+2 {
		room -= 2 + p.cells[count]
		count++
	}
	if count == 0 {
		return spans
	}
	spans = paint.Truncate(spans, room)
	used := 0
	for _, s := range spans {
		used += cells.Width(s.Text)
	}
	spans = append(spans, paint.Span{Text: strings.Repeat(" ", room-used)})
	for i, w := range p.cells[:count] {
		cell := ""
		if i < len(it.Cells) {
			for _, s := range paint.Truncate([]paint.Span{{Text: it.Cells[i]}}, w) {
				cell += s.Text
			}
		}
		spans = append(spans, paint.Span{Text: "  " + cell + strings.Repeat(" ", w-cells.Width(cell)), Style: theme.Dim})
	}
	return spans
}
