package keyboard

import (
	"bytes"
	"strings"
	"time"
)

const (
	esc   = 0x1b
	begin = "\x1b[200~"
	end   = "\x1b[201~"
	// silence is the time without input after which Ctrl+C counts as a key, although the
	// paste has not ended.
	silence = time.Second
)

// splitter separates pastes from keys, whatever the size of the pieces.
type splitter struct {
	hold func(paste) string

	open bool // inside a paste
	mark mark // the marker that ends the keys or the paste
	text strings.Builder
	size int // of the paste so far, including dropped bytes
	last time.Time
	// warned reports whether the person knows about the missing end.
	warned bool

	held   []byte // the beginning of a report of the terminal
	lone   string // the start of a report that came last, as a key
	waited bool   // the rest of the input was waited for: the start of a report that comes alone is a key
}

// next appends to out what Bubble Tea should see of p, which was read at the time now.
func (s *splitter) next(out, p []byte, now time.Time) []byte {
	if s.open && interrupts(p) && now.Sub(s.last) >= silence {
		return s.close(out) // the end was lost
	}
	if s.open && now.Sub(s.last) >= silence && !s.warned {
		s.warned = true
		out = append(append(append(out, begin...), s.hold(paste{unfinished: true})...), end...)
	}
	s.last = now
	if !s.open {
		p = s.join(p)
	}
	for len(p) > 0 {
		n, found := s.mark.find(p, s.marker())
		if s.open {
			s.add(p[:n])
		} else {
			out = append(out, p[:n]...)
		}
		switch {
		case found && s.open:
			s.size -= len(end)
			out = s.close(out)
		case found:
			s.open = true
		}
		p = p[n:]
	}
	return out
}

func (s *splitter) marker() string {
	if s.open {
		return end
	}
	return begin
}

// add appends to the paste.
func (s *splitter) add(p []byte) {
	s.size += len(p)
	if s.size > MaxPaste+len(end) {
		s.text.Reset()
		return
	}
	s.text.Write(p)
}

// close ends the paste. It repeats the marker of its beginning: the first may have arrived in
// pieces so far apart that Bubble Tea took them for keys. Inside a paste Bubble Tea ignores
// it.
func (s *splitter) close(out []byte) []byte {
	p := paste{size: s.size}
	if s.size <= MaxPaste {
		p.text = s.text.String()[:s.size]
	}
	s.open, s.size, s.mark, s.warned = false, 0, mark{}, false
	s.text.Reset()
	return append(append(append(out, begin...), s.hold(p)...), end...)
}

// paste appends a paste that came without brackets.
func (s *splitter) paste(out, text []byte) []byte {
	s.add(text)
	return s.close(append(out, begin...))
}

// mark finds a marker that may be split. Escape occurs only at its start.
type mark struct{ got int }

// find returns the length of p up to the end of the marker, or all of p if the marker does
// not end there.
func (m *mark) find(p []byte, marker string) (n int, found bool) {
	for n < len(p) {
		if m.got == 0 {
			i := bytes.IndexByte(p[n:], esc)
			if i < 0 {
				return len(p), false
			}
			n += i
		}
		switch p[n] {
		case marker[m.got]:
			m.got++
		case esc:
			m.got = 1
		default:
			m.got = 0
		}
		n++
		if m.got == len(marker) {
			m.got = 0
			return n, true
		}
	}
	return n, false
}
