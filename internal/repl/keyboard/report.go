package keyboard

import (
	"bytes"
	"strings"
)

// found is the beginning of some input, compared with the form of a report.
type found int

const (
	other  found = iota // something else
	part                // of a report whose end has not come
	whole               // a report
	broken              // a report whose end is lost
)

// report compares b with an answer of the terminal to a question: a color (OSC), the state of a mode or
// its own name (CSI with a ? or >, DCS). No key begins like one. n is the number of its bytes in b.
func report(b []byte) (n int, is found) {
	if len(b) < 3 || b[0] != esc {
		return 0, other
	}
	switch b[1] {
	case '[':
		return mode(b)
	case ']':
		return color(b)
	case 'P':
		return named(b)
	}
	return 0, other
}

const digits = "0123456789:;"

// mode compares b with the state of a mode, or another answer that begins with CSI.
func mode(b []byte) (int, found) {
	if b[2] != '?' && b[2] != '>' {
		return 0, other
	}
	n := 3 + span(b[3:], digits+"$ !")
	switch {
	case n == len(b):
		return n, part
	case b[n] >= '@' && b[n] <= '~':
		return n + 1, whole
	}
	return 0, other
}

// color compares b with a color.
func color(b []byte) (int, found) {
	n := 2 + span(b[2:], digits)
	switch {
	case n == 2:
	case n == len(b):
		return n, part
	case b[n] == 'r':
		return ended(b, n+span(b[n:], digits+"rgbacdefABCDEF/"))
	}
	return 0, other
}

// named compares b with an answer that begins with DCS.
func named(b []byte) (int, found) {
	n := 2 + span(b[2:], digits)
	switch {
	case n == len(b):
		return n, part
	case strings.IndexByte("$+>|!", b[n]) < 0:
		return 0, other
	}
	for n < len(b) && b[n] >= ' ' && b[n] <= '~' {
		n++
	}
	return ended(b, n)
}

// ended compares the end of a report, at n, with BEL and ST.
func ended(b []byte, n int) (int, found) {
	switch {
	case n == len(b):
		return n, part
	case b[n] == '\a':
		return n + 1, whole
	case b[n] == esc && n+1 == len(b):
		return n + 1, part
	case b[n] == esc && b[n+1] == '\\':
		return n + 2, whole
	}
	return n, broken
}

// span returns the number of bytes of b that are in set.
func span(b []byte, set string) int {
	n := 0
	for n < len(b) && strings.IndexByte(set, b[n]) >= 0 {
		n++
	}
	return n
}

// maxReport is the maximum length of a report that is held back, in bytes.
const maxReport = 4 << 10

// starts are the keys that begin like a report, in their own encoding and in one that nothing continues.
var starts = map[string]string{"\x1b": "\x1b[27u", "\x1b[": "\x1b[91;3u", "\x1b]": "\x1b[93;3u", "\x1bP": "\x1b[112;4u"}

// join returns p after the part of a report that was held back, and holds back the part of one at its
// end: Bubble Tea would take the rest of it for keys. A report whose start was taken for a key gets it again.
func (s *splitter) join(p []byte) []byte {
	if again := append([]byte(s.lone), p...); s.lone != "" {
		if _, is := report(again); is != other {
			p = again
		}
	}
	p, s.held = append(s.held, p...), nil
	keys := len(p)
	if i := bytes.Index(p, []byte(begin)); i >= 0 {
		keys = i
	}
	for i := 0; i < keys; i++ {
		if p[i] != esc {
			continue
		}
		switch n, is := report(p[i:]); {
		case is == part && i+n == len(p) && n <= maxReport:
			p, s.held, keys = p[:i], bytes.Clone(p[i:]), i
		case is == broken:
			p, keys = append(p[:i:i], p[i+n:]...), keys-n
			i--
		case is == whole:
			i += n - 1
		}
	}
	return s.settled(p)
}

// settled returns p with the start of a report at its end as a key, if the rest was waited for.
func (s *splitter) settled(p []byte) []byte {
	s.lone = ""
	i := bytes.LastIndexByte(p, esc)
	if !s.waited || s.held != nil || i < 0 || i > 0 && p[i-1] == esc {
		return p
	}
	if key, ok := starts[string(p[i:])]; ok {
		s.lone = string(p[i:])
		return append(p[:i:i], key...)
	}
	return p
}
