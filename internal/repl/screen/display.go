package screen

import (
	"slices"
	"time"
)

// display tracks the content of the terminal and computes the bytes that turn it into the
// next frame.
type display struct {
	main, alt region
	inAlt     bool
	hidden    bool // the cursor
	sync      bool // frames use synchronized output
	written   time.Time
	latency   time.Duration
	resized   size // since the last frame; zero for no change
	unsure    bool // its effect on the last frame is unknown
	lowest    int  // minimum height since the last frame on the main screen; 0 for no change
	buf       []byte
}

// smallFrame is the size in bytes up to which a terminal draws a frame at once anyway.
const smallFrame = 128

// next returns the bytes that bring f to the terminal, valid until the next call. It clears
// the one-time requests of f.
func (d *display) next(f *frame, p *preparer, now time.Time) []byte {
	out := d.buf[:0]
	out = append(out, beginFrame...)
	out = d.prepare(out, f, d.settled(now))
	d.resized = size{}
	var finished []row
	if !d.inAlt {
		// They were laid out for the width that the owner knows. If the terminal has just become
		// narrower it wraps them itself, and joins them again when it gets wider.
		finished = p.finished(f.finished, f.known)
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

// size is the size of a terminal in cells.
type size struct{ width, height int }

// resize records a new size of the terminal. The first one after a frame determines whether
// the terminal had seen that frame. The combined effect of several is unknown: wide
// characters may get lost in a narrow size in between.
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

// settled reports whether the terminal has certainly seen the last frame before its size
// changed, and so has rewrapped its rows. A terminal that is already narrower cuts them
// instead.
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

// prepare switches screens and clears what cannot be overwritten.
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
		out = append(out, slices.Repeat([]byte{'\n'}, f.height-1)...) // scrolls exactly the rows above
		out = append(out, "\x1b[H"...)
		f.clear, r.stray = false, false
	}
	f.redraw = false
	if !d.inAlt {
		d.lowest = 0
	}
	return out
}

// reach returns the number of rows of the main screen that have stayed visible since its last
// frame.
func (d *display) reach(height int) int {
	if d.lowest == 0 {
		return height
	}
	return min(height, d.lowest)
}

// fit drops the first rows if there are more than fit on the screen, where the main screen
// keeps one row for finished lines to scroll through.
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

// place moves the cursor to its visible position. A hidden cursor rests in column 0, where no
// terminal is about to wrap.
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
	out = r.place(out, x, y)
	if d.hidden {
		out = append(out, showCursor...)
		d.hidden = false
	}
	return out
}

// leave returns the bytes that move the cursor below the live region.
func (d *display) leave() []byte {
	out := d.leaveAlt(nil)
	if len(d.main.rows) > 0 {
		out = d.main.move(out, 0, len(d.main.rows)-1)
		out = append(out, '\r', '\n')
	}
	d.main.rows, d.main.x, d.main.y = nil, 0, 0
	return out
}

// erase returns the bytes that erase the live region.
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
