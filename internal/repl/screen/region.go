package screen

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// region is a block of rows on the terminal, and the cursor in it. A region of the main
// screen does not know its position: all its movements are relative, so the terminal may
// scroll it. The screen is blank below its last row.
type region struct {
	absolute bool // at the top of the (alternate) screen
	rewrap   rewrap
	rows     []row
	x, y     int // the cursor; x is -1 if it depends on the terminal, which may be about to wrap
	behind   int // if x is -1: the cursor was left after this many bytes of row y …
	past     int // … and this many cells
	width    int // of the terminal when the rows were written
	stale    bool
	stray    bool // rows of an earlier frame may remain above
}

// paint writes finished rows, which stay, and then the tail, over the present rows.
func (r *region) paint(out []byte, finished, tail []row) []byte {
	if len(finished) > 0 {
		out = r.scroll(out, finished)
	}
	return r.paintTail(out, tail)
}

// scroll writes finished rows over the region, which is then empty. It writes each whole, also
// one that is on the screen already: a terminal that was narrower than expected has cut it
// there. The terminal may wrap them now, so nothing is lost.
func (r *region) scroll(out []byte, finished []row) []byte {
	below := len(r.rows) > 1
	out = r.move(out, 0, 0)
	if len(r.rows) > 0 {
		out = append(out, eraseLine...)
	}
	for i, f := range finished {
		if i > 0 && below {
			out = append(out, eraseBelow...)
			below = false
		}
		out = append(out, f.text...)
		out = append(out, '\r', '\n')
	}
	if below {
		out = append(out, eraseBelow...)
	}
	r.rows, r.x, r.y = nil, 0, 0
	return out
}

// paintTail updates the rows of the region. It disables wrapping: if the terminal disagrees
// about the width of a character, it cuts the row, and the rows below stay in place.
func (r *region) paintTail(out []byte, tail []row) []byte {
	before := len(out)
	for i, t := range tail {
		if i < len(r.rows) && r.rows[i].text == t.text {
			continue
		}
		if len(out) == before {
			out = append(out, wrapOff...)
		}
		out = r.writeRow(out, i, t)
	}
	if len(out) > before {
		out = append(out, wrapOn...)
	}
	if len(tail) < len(r.rows) {
		out = r.move(out, 0, len(tail))
		out = append(out, eraseBelow...)
	}
	r.rows = tail
	return out
}

// writeRow replaces or adds row y. It writes only the part after the common prefix with the old
// row, if terminals are sure to agree on where that ends.
func (r *region) writeRow(out []byte, y int, to row) []byte {
	var old row
	if y < len(r.rows) {
		old = r.rows[y]
	}
	if old.text != "" && !(cells.Steady(old.text) && cells.Steady(to.text)) {
		out = r.move(out, 0, y)
		out = append(out, eraseLine...)
		old = row{}
	}
	kept := common(old.text, to.text)
	start := look(to.text[:kept]).width
	if start == 0 {
		kept = 0
	}
	out = r.move(out, start, y)
	if rest := to.text[kept:]; rest != "" {
		out = append(out, activeStyle(to.text[:kept])...)
		out = append(out, rest...)
		r.x, r.behind, r.past = -1, len(to.text), 0
	}
	if to.width < old.width {
		out = append(out, eraseLine...)
	}
	return out
}

// move moves the cursor to column x of row y. It creates rows below the last one.
func (r *region) move(out []byte, x, y int) []byte {
	if r.absolute {
		r.x, r.y = x, y
		return append(out, "\x1b["+strconv.Itoa(y+1)+";"+strconv.Itoa(x+1)+"H"...)
	}
	for ; r.y < y; r.y++ {
		out = append(out, '\n')
	}
	if r.y > y {
		out = append(out, "\x1b["+strconv.Itoa(r.y-y)+"A"...)
		r.y = y
	}
	switch {
	case r.x == x:
	case x == 0:
		out = append(out, '\r')
	default:
		out = append(out, "\x1b["+strconv.Itoa(x+1)+"G"...)
	}
	r.x = x
	return out
}

// place moves the cursor to column x of row y, after the text before it. Where terminals may
// disagree about its width, it writes that text again: the cursor is then where the terminal
// has it.
func (r *region) place(out []byte, x, y int) []byte {
	text := ""
	if y < len(r.rows) {
		text = r.rows[y].text
	}
	n, w := cells.Fit(text, x)
	switch {
	case cells.Steady(text[:n]):
		if r.x == x && r.y == y {
			return out
		}
		return r.move(out, x, y)
	case r.x == -1 && r.y == y && r.behind == n && r.past == x-w:
		return out
	case !(r.x == -1 && r.y == y && r.behind == n && r.past == 0):
		out = append(r.move(out, 0, y), wrapOff...)
		out = append(out, text[:n]...)
		out = append(out, resetStyle+wrapOn...)
	}
	if x > w {
		out = append(out, "\x1b["+strconv.Itoa(x-w)+"C"...)
	}
	r.x, r.behind, r.past = -1, n, x-w
	return out
}

// collapse erases the region after the width has changed, wherever its rows now are. Most
// terminals continue a row that is too wide on the next, some cut it. Moving up by this
// terminal's rule reaches the region's first row, and no finished line above it. If the
// terminal may not have had the rows when its width changed (not settled), they count as cut:
// a stale row may remain (stray), but nothing is lost. So may rows that left the top of the
// screen, further up than the lowest height since they were written.
func (r *region) collapse(out []byte, width, lowest int, settled bool) []byte {
	if r.absolute {
		r.rows = nil
		return append(out, "\x1b[H\x1b[2J"...)
	}
	up := r.y + r.rewrapped(width)
	r.stray = r.stray || up >= lowest || !settled && up > r.y
	if !settled {
		up = r.y
	}
	if up > 0 {
		out = append(out, "\x1b["+strconv.Itoa(up)+"A"...)
	}
	r.rows, r.x, r.y = nil, 0, 0
	return append(out, "\r"+eraseBelow...)
}

// rewrapped returns how many rows further up the region begins after rewrapping to width.
func (r *region) rewrapped(width int) int {
	if width >= r.width || r.rewrap == rewrapNone {
		return 0
	}
	n := 0
	for _, row := range r.rows[:min(r.y, len(r.rows))] {
		n += row.height(width) - 1
	}
	if r.rewrap == rewrapAll && r.y < len(r.rows) {
		// Terminals differ behind the end of the text. Too low leaves a row behind; too high
		// would erase a finished line.
		text, x := r.rows[r.y].text, r.x
		if x < 0 {
			x = cells.Least(text[:r.behind]) + r.past
		}
		n += max(0, min(x, cells.Least(text)-1)) / width
	}
	return n
}

// height returns the number of rows on a terminal of the given width, or less where terminals
// disagree.
func (r row) height(width int) int {
	if r.width <= width {
		return 1
	}
	if len(r.text) == r.width {
		return (r.width + width - 1) / width
	}
	if cells.Steady(r.text) {
		return len(cells.Wrap(r.text, width))
	}
	return max(1, (cells.Least(r.text)+width-1)/width)
}

// common returns the length of the longest prefix of b that a also has, and after which
// writing can continue: it splits no sequence and no character. (Characters that join the
// previous one are not steady.)
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if esc := strings.LastIndexByte(b[:n], 0x1b); esc >= 0 && styleLen(b[esc:n]) == 0 {
		n = esc
	}
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}
