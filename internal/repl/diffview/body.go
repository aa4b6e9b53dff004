package diffview

import "sort"

// body is a list of rows, each one or more terminal lines high.
type body struct {
	painter *painter
	rows    []row
	pairs   []pair // rows side by side; nil if they are not
	starts  []int  // first terminal line of each row or pair, then their total
}

func (b *body) layout(o Options) {
	b.painter.fit(o, b.rows)
	b.pairs = nil
	if o.split() {
		b.pairs = pairs(b.rows)
	}
	b.starts = make([]int, b.count()+1)
	for i := range b.count() {
		b.starts[i+1] = b.starts[i] + b.height(i)
	}
}

// count returns the number of rows or pairs.
func (b *body) count() int {
	if b.pairs != nil {
		return len(b.pairs)
	}
	return len(b.rows)
}

// height returns the height of row or pair i in terminal lines.
func (b *body) height(i int) int {
	if b.pairs == nil {
		return b.painter.height(&b.rows[i])
	}
	h := 1
	for _, r := range [...]int{b.pairs[i].before, b.pairs[i].after} {
		if r >= 0 {
			h = max(h, b.painter.height(&b.rows[r]))
		}
	}
	return h
}

// hunk returns the hunk of row or pair i, counted from 1.
func (b *body) hunk(i int) int {
	if b.pairs == nil {
		return b.rows[i].hunk
	}
	for _, r := range [...]int{b.pairs[i].before, b.pairs[i].after} {
		if r >= 0 && b.rows[r].hunk > 0 {
			return b.rows[r].hunk
		}
	}
	return 0
}

func (b *body) len() int {
	if len(b.starts) == 0 {
		return 0
	}
	return b.starts[b.count()]
}

// changed returns the number of terminal lines up to the last change.
func (b *body) changed() int {
	for i := b.count() - 1; i >= 0; i-- {
		if b.hunk(i) > 0 {
			return b.starts[i+1]
		}
	}
	return 0
}

// begin returns the line from which height lines show the first hunk. At most a quarter of
// them are unchanged lines before a hunk that does not fit.
func (b *body) begin(height int) int {
	first, end := b.extent(1)
	least := first + min(end-first, height-height/4) - height
	return b.starts[sort.SearchInts(b.starts, max(0, least))]
}

// extent returns the terminal lines of a hunk, counted from 1: the first, and the one after the
// last. Both are zero if there is no such hunk.
func (b *body) extent(hunk int) (first, end int) {
	for i := range b.count() {
		switch of := b.hunk(i); {
		case of == hunk && end == 0:
			first, end = b.starts[i], b.starts[i+1]
		case of == hunk:
			end = b.starts[i+1]
		case of > hunk:
			return first, end
		}
	}
	return first, end
}

func (b *body) lines(offset, height int) []string {
	offset = max(offset, 0)
	i := sort.SearchInts(b.starts, offset+1) - 1
	if i < 0 || i >= b.count() || height <= 0 {
		return nil
	}
	var lines []string
	for ; i < b.count() && len(lines) < height; i++ {
		from := offset + len(lines) - b.starts[i]
		to := min(b.starts[i+1]-b.starts[i], from+height-len(lines))
		lines = append(lines, b.paint(i, from, to)...)
	}
	return lines
}

// paint returns some of the terminal lines of row or pair i.
func (b *body) paint(i, from, to int) []string {
	if b.pairs != nil {
		return b.painter.paintPair(b.rows, b.pairs[i], from, to)
	}
	return b.painter.paint(b.rows, i, from, to)
}

// summary returns the first lines and a remark about the rest. A single further line is
// shown, because the remark would take as much room.
func (b *body) summary(o Options) []string {
	if b.len() == summaryLines+1 {
		return b.lines(0, summaryLines+1)
	}
	lines := b.lines(0, summaryLines)
	if more := b.len() - summaryLines; more > 0 {
		lines = append(lines, moreLine(more, o))
	}
	return lines
}
