package sanitize

import "strings"

// StripANSI drops terminal escape sequences, then does what Text does. It is for the
// output of programs, whose colours nobody wants to read as \u{1b}[31m. A carriage
// return, with which programs overwrite their own line, becomes a newline so that nothing
// is hidden; bells are dropped.
func StripANSI(s string) string {
	if n := cleanASCII(s); n == len(s) {
		return s
	}
	var p stripper
	return Text(p.push(s))
}

// stripper drops escape sequences from text that arrives in pieces. It stores no text, so
// an unterminated sequence costs nothing; a string (a title, a clipboard) ends at the end
// of its line at the latest.
type stripper struct {
	state stripState
	cr    bool // the last byte was a carriage return
}

type stripState byte

const (
	ground stripState = iota
	escape            // after ESC
	csi               // after ESC [
	str               // inside a string: OSC, DCS, SOS, PM, APC
	strEsc            // after ESC inside a string
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
)

func (p *stripper) push(s string) string {
	if p.state == ground && !p.cr && strings.IndexByte(s, esc) < 0 &&
		strings.IndexByte(s, '\r') < 0 && strings.IndexByte(s, bel) < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		out = p.step(out, s[i])
	}
	return string(out)
}

// step handles one byte: each state either drops it or returns to ground.
func (p *stripper) step(out []byte, c byte) []byte {
	switch p.state {
	case escape:
		if p.inEscape(c) {
			return out
		}
	case csi:
		if p.inCSI(c) {
			return out
		}
	case str, strEsc:
		if p.inString(c) {
			return out
		}
	}
	return p.inGround(out, c)
}

func (p *stripper) inGround(out []byte, c byte) []byte {
	cr := p.cr
	p.cr = c == '\r'
	switch c {
	case esc:
		p.state, p.cr = escape, cr
	case bel:
		p.cr = cr
	case '\r':
		if !cr {
			out = append(out, '\n')
		}
	case '\n':
		if !cr {
			out = append(out, '\n')
		}
	default:
		out = append(out, c)
	}
	return out
}

func (p *stripper) inEscape(c byte) bool {
	switch {
	case c == '[':
		p.state = csi
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		p.state = str
	case c >= 0x20 && c <= 0x2f: // intermediate: the sequence continues
	case c >= 0x30 && c <= 0x7e:
		p.state = ground
	default:
		p.state = ground
		return false
	}
	return true
}

func (p *stripper) inCSI(c byte) bool {
	switch {
	case c >= 0x20 && c <= 0x3f:
	case c >= 0x40 && c <= 0x7e:
		p.state = ground
	default:
		p.state = ground
		return false
	}
	return true
}

func (p *stripper) inString(c byte) bool {
	switch {
	case p.state == strEsc && c == '\\', c == bel, c == can, c == sub:
		p.state = ground
	case p.state == strEsc:
		p.state = escape
		return p.inEscape(c)
	case c == esc:
		p.state = strEsc
	case c == '\n' || c == '\r':
		p.state = ground
		return false
	}
	return true
}
