package screen

import (
	"slices"
	"time"
)

// display is what is on the terminal. It turns the frame that is wanted into the
// bytes that lead there.
type display struct {
	main, alt region
	inAlt     bool
	hidden    bool // the cursor
	sync      bool // frames are announced
	written   time.Time
	latency   time.Duration
	resized   size // since the last frame; zero: not
	unsure    bool // what that did to the last frame is not known
	lowest    int  // height since the last frame on the main screen; 0: no change
	buf       []byte
}

// smallFrame is what a terminal shows at once anyway, in bytes.
const smallFrame = 128

// next returns the bytes that bring f on the terminal, and takes from f what they
// settle. They are valid until the next call.
func (d *display) next(f *frame, p *preparer, now time.Time) []byte {
	out := d.buf[:0]
	out = append(out, beginFrame...)
	out = d.prepare(out, f, d.settled(now))
	d.resized = size{}
	var finished []row
	if !d.inAlt {
		finished = p.finished(f.finished, f.width)
		f.finished = nil
	}
	r := d.current()
	tail, cursor := fit(p.tail(f.tail, f.width), f.cursor, f.height, d.inAlt)
	out = r.paint(out, finished, tail)
	out = d.place(out, cursor, f.width)
	out = append(out, f.signals...)
	f.signals = ""
	out = append(out, endFrame...)
	d.buf = out
	body := out[len(beginFrame) : len(out)-len(endFrame)]
	switch {
	case len(body) == 0:
		return nil
	case !d.sync || len(body) < smallFrame:
		return body
	}
	return out
}

// size is that of a terminal, in cells.
type size struct{ width, height int }

// resize notes a new size of the terminal. The first one after a frame tells whether
// the terminal had seen that. What several of them did to it is not known: on the way
// over a narrow one, wide characters may be lost.
func (d *display) resize(to size, now time.Time) {
	switch d.resized {
	case size{}:
		d.unsure = now.Sub(d.written) < d.latency
	case to:
	default:
		d.unsure = true
	}
	d.resized = to
	if d.lowest == 0 || to.height < d.lowest {
		d.lowest = to.height
	}
}

// settled reports whether the terminal has surely seen the last frame before its size
// changed: then its rows have been rewrapped. A frame that reaches a terminal which is
// narrower already is cut instead.
func (d *display) settled(now time.Time) bool {
	if d.resized != (size{}) {
		return !d.unsure
	}
	return now.Sub(d.written) >= d.latency
}

func (d *display) current() *region {
	if d.inAlt {
		return &d.alt
	}
	return &d.main
}

// prepare changes screens and clears what cannot be drawn over.
func (d *display) prepare(out []byte, f *frame, settled bool) []byte {
	if f.alt && !d.inAlt {
		out = append(out, enterAlt...)
		d.alt.rows, d.alt.stale, d.alt.width = nil, false, f.width
	}
	if d.inAlt && !f.alt {
		out = append(out, leaveAlt...)
	}
	d.inAlt = f.alt
	if f.redraw {
		d.main.stale, d.alt.stale = true, true
	}
	r := d.current()
	if r.stale || r.width != f.width {
		if r.width != 0 {
			out = r.collapse(out, f.width, d.reach(f.height), settled)
		}
		r.width, r.stale = f.width, false
	}
	if f.clear && !d.inAlt {
		out = r.collapse(out, f.width, d.reach(f.height), settled)
		out = append(out, slices.Repeat([]byte{'\n'}, f.height-1)...) // exactly the rows above scroll away
		out = append(out, "\x1b[H"...)
		f.clear, r.stray = false, false
	}
	f.redraw = false
	if !d.inAlt {
		d.lowest = 0
	}
	return out
}

// reach returns how many rows of the main screen have stayed on it since its last frame.
func (d *display) reach(height int) int {
	if d.lowest == 0 {
		return height
	}
	return min(height, d.lowest)
}

// fit leaves out the first rows where there are more than the screen has place for.
// One row is left for the finished lines, which scroll through it.
func fit(rows []row, cursor *Cursor, height int, all bool) ([]row, *Cursor) {
	room := height
	if !all {
		room = max(1, height-1)
	}
	cut := max(0, len(rows)-room)
	if cut == 0 || cursor == nil {
		return rows[cut:], cursor
	}
	if cursor.Y < cut {
		return rows[cut:], nil
	}
	return rows[cut:], &Cursor{X: cursor.X, Y: cursor.Y - cut}
}

// place leaves the cursor where it should be seen; a hidden one rests in the first
// column, where no terminal is about to wrap.
func (d *display) place(out []byte, c *Cursor, width int) []byte {
	r := d.current()
	if c == nil {
		if !d.hidden {
			out = append(out, hideCursor...)
			d.hidden = true
		}
		if r.x != 0 && !r.absolute {
			out = r.move(out, 0, r.y)
		}
		return out
	}
	y := min(max(0, c.Y), max(0, len(r.rows)-1))
	x := min(max(0, c.X), width-1)
	if r.x != x || r.y != y {
		out = r.move(out, x, y)
	}
	if d.hidden {
		out = append(out, showCursor...)
		d.hidden = false
	}
	return out
}

// leave returns the bytes that put the cursor below the live region, which stays.
func (d *display) leave() []byte {
	out := d.leaveAlt(nil)
	if len(d.main.rows) > 0 {
		out = d.main.move(out, 0, len(d.main.rows)-1)
		out = append(out, '\r', '\n')
	}
	d.main.rows, d.main.x, d.main.y = nil, 0, 0
	return out
}

// erase returns the bytes that take the live region off the terminal.
func (d *display) erase(width, height int, now time.Time) []byte {
	out := d.leaveAlt(nil)
	d.hidden = false
	return d.main.collapse(out, width, d.reach(height), d.settled(now))
}

func (d *display) leaveAlt(out []byte) []byte {
	if d.inAlt {
		d.inAlt = false
		return append(out, leaveAlt...)
	}
	return out
}
