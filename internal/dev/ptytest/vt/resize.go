package vt

// Resize changes the size. The main screen keeps its text according to Options.Rewrap;
// the alternate screen is cut.
func (t *Terminal) Resize(width, height int) {
	old := t.opt
	t.opt.Width, t.opt.Height = max(1, width), max(1, height)
	t.resizeMain(old)
	t.alt.fitTo(t.opt.Width, t.opt.Height)
	t.last = ""
}

// fitTo cuts a page that has no scrollback.
func (p *page) fitTo(width, height int) {
	for len(p.lines) < height {
		p.lines = append(p.lines, line{})
	}
	p.lines = p.lines[:height]
	for i := range p.lines {
		p.lines[i].cut(width)
	}
	p.x, p.y, p.wrap = min(p.x, width-1), min(p.y, height-1), false
}

// place is a position in the text: a line of scrollback and screen, and a cell.
type place struct{ line, cell int }

func (t *Terminal) resizeMain(old Options) {
	p := &t.main
	oldTop := len(p.lines) - old.Height
	at, first := place{oldTop + p.y, p.x}, place{line: oldTop}
	lines := p.lines
	for len(lines) > at.line+1 && len(lines[len(lines)-1].cells) == 0 {
		lines = lines[:len(lines)-1]
	}
	full := len(lines) == len(p.lines)
	if t.opt.Width != old.Width {
		lines = t.rewrap(lines, &at, &first)
	}
	// A full screen stays full, with lines from the scrollback if needed; on others the
	// text keeps its position as long as it fits. The cursor stays visible, and rows
	// too far below it are lost.
	top := max(0, len(lines)-t.opt.Height)
	if !full {
		top = max(top, first.line)
	}
	top = min(top, at.line)
	lines = lines[:min(len(lines), top+t.opt.Height)]
	for len(lines) < top+t.opt.Height {
		lines = append(lines, line{})
	}
	p.lines = lines
	p.x, p.y, p.wrap = min(at.cell, t.opt.Width-1), at.line-top, false
}

// rewrap lays all lines out for the new width, and moves the marks with their text.
// The first mark is the cursor.
func (t *Terminal) rewrap(lines []line, marks ...*place) []line {
	var out []line
	from := make([]place, len(marks))
	for i, m := range marks {
		from[i] = *m
	}
	for i := 0; i < len(lines); {
		first := i
		for i < len(lines)-1 && lines[i].wrapped {
			i++
		}
		i++
		hasCursor := from[0].line >= first && from[0].line < i
		if t.opt.Rewrap == RewrapNone || hasCursor && t.opt.Rewrap == RewrapOthers {
			shift(marks, from, first, i, len(out))
			out = append(out, cutAll(lines[first:i], t.opt.Width)...)
			continue
		}
		cells, starts := join(lines[first:i])
		rows := split(cells, t.opt.Width)
		for r := range rows {
			rows[r].final, rows[r].kept = lines[first].final, lines[first].kept
		}
		for m, f := range from {
			if f.line >= first && f.line < i {
				row, col := find(rows, starts[f.line-first]+f.cell)
				*marks[m] = place{len(out) + row, col}
			}
		}
		out = append(out, rows...)
	}
	return out
}

// shift moves the marks of the cut lines, first to end, to their new place.
func shift(marks []*place, from []place, first, end, to int) {
	for m, f := range from {
		if f.line >= first && f.line < end {
			*marks[m] = place{to + f.line - first, f.cell}
		}
	}
}

func cutAll(lines []line, width int) []line {
	for i := range lines {
		lines[i].cut(width)
	}
	return lines
}

// join returns the cells of a logical line, and the start of each row in them.
func join(lines []line) (cells []Cell, starts []int) {
	for _, l := range lines {
		starts = append(starts, len(cells))
		cells = append(cells, l.cells...)
	}
	return cells, starts
}

// split lays cells out in rows.
func split(cells []Cell, width int) []line {
	var rows []line
	for len(cells) > width {
		end := width
		if cells[end] == tailCell && width > 1 {
			end--
		}
		rows = append(rows, line{cells: cells[:end:end], wrapped: true})
		cells = cells[end:]
	}
	return append(rows, line{cells: cells[:len(cells):len(cells)]})
}

// find returns the row and the column of a cell; a cell after the text is in its last
// row.
func find(rows []line, cell int) (row, col int) {
	for row < len(rows)-1 && cell >= len(rows[row].cells) {
		cell -= len(rows[row].cells)
		row++
	}
	return row, cell
}
