package diffview

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// between separates the two sides.
const between = " │ "

// pair is a line of a split view: the indices of its rows, or -1. An unchanged row is on both
// sides.
type pair struct{ before, after int }

// pairs arranges rows side by side.
func pairs(rows []row) []pair {
	out := make([]pair, 0, len(rows))
	for i := 0; i < len(rows); {
		if rows[i].op == diff.Equal && rows[i].remark != noNewline {
			out = append(out, pair{i, i})
			i++
			continue
		}
		var before, after []int
		for side := diff.Equal; i < len(rows) && (rows[i].op != diff.Equal || rows[i].remark == noNewline); i++ {
			if rows[i].remark == "" {
				side = rows[i].op
			}
			if side != diff.Insert {
				before = append(before, i)
			}
			if side != diff.Delete {
				after = append(after, i)
			}
		}
		out = merge(out, rows, before, after)
	}
	return out
}

// merge arranges the rows of one change: lines that replaced each other side by side, the
// others in order.
func merge(out []pair, rows []row, before, after []int) []pair {
	for len(before) > 0 || len(after) > 0 {
		p := pair{-1, -1}
		switch {
		case len(before) == 0:
			p.after = after[0]
		case len(after) == 0:
			p.before = before[0]
		default:
			b, a := before[0], after[0]
			pb, pa := rows[b].pair, rows[a].pair
			together := pb != 0 && b+pb == a || pb == 0 && pa == 0
			if together || pb == 0 {
				p.before = b
			}
			if together || pb != 0 {
				p.after = a
			}
		}
		if p.before >= 0 {
			before = before[1:]
		}
		if p.after >= 0 {
			after = after[1:]
		}
		out = append(out, p)
	}
	return out
}

// paintPair returns the terminal lines of a pair from one to before another.
func (p *painter) paintPair(rows []row, at pair, from, to int) []string {
	if at.before >= 0 && at.before == at.after && rows[at.before].remark != "" {
		return p.paint(rows, at.before, from, to)
	}
	before, after := p.cell(rows, at.before, true, from, to), p.cell(rows, at.after, false, from, to)
	lines := make([]string, to-from)
	for i := range lines {
		var left, right []paint.Span
		if i < len(before) {
			left = before[i]
		}
		if i < len(after) {
			right = after[i]
		}
		left = append(left, paint.Span{Text: strings.Repeat(" ", max(0, p.side-paint.WidthOf(left)))}, paint.Span{Text: between, Style: theme.Dim})
		lines[i] = p.line(append(left, right...))
	}
	return lines
}

// cell returns those lines of a row on one side.
func (p *painter) cell(rows []row, i int, before bool, from, to int) [][]paint.Span {
	switch {
	case i < 0, rows[i].remark != "" && from > 0:
		return nil
	case rows[i].remark != "":
		return [][]paint.Span{p.remark(&rows[i], p.side)}
	}
	parts := p.parts(rows, i, before, from, to)
	for n, part := range parts {
		parts[n] = p.tinted(&rows[i], part, p.side)
	}
	return parts
}
