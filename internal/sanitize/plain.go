package sanitize

import (
	"strings"
	"unicode"
)

const escapeByte = '\x1b'

// Plain returns the output of a command without escape sequences and control characters,
// which mean nothing to a model. A lone carriage return, with which programs overwrite a
// line, begins a new line.
func Plain(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] == escapeByte {
			i += sequenceSize(s[i:])
			continue
		}
		size := 1
		for i+size < len(s) && s[i+size]&0xc0 == 0x80 {
			size++
		}
		switch piece := s[i : i+size]; {
		case piece == "\r":
			b.WriteByte('\n')
		case strings.IndexFunc(piece, isControl) < 0:
			b.WriteString(piece)
		}
		i += size
	}
	return b.String()
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// sequenceSize returns the size of the escape sequence at the start of s: CSI, a string
// such as OSC up to its end, or two characters. A sequence cut off by the end of the
// output counts too.
func sequenceSize(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] < 0x20 || s[i] > 0x7e {
				return i // broken: the rest is text
			}
			if s[i] >= 0x40 {
				return i + 1
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		return stringSize(s)
	}
	for i := 1; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return i
		}
		if s[i] >= 0x30 {
			return i + 1
		}
	}
	return len(s)
}

// stringSize is sequenceSize for a string, which ends with BEL or ESC \. A string that
// does not end on its line counts as broken.
func stringSize(s string) int {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\a':
			return i + 1
		case s[i] == escapeByte && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == '\n' || s[i] == escapeByte:
			return i
		}
	}
	return len(s)
}
