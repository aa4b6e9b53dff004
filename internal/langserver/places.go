package langserver

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// lineStarts returns the offsets of the lines of a text, as the protocol counts them.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' || text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// positionOf returns the server's name for an offset.
func (c counting) positionOf(text string, offset int) position {
	starts := lineStarts(text)
	line, exact := slices.BinarySearch(starts, offset)
	if !exact {
		line--
	}
	return position{line, c.units(text[starts[line]:offset])}
}

// counting is how characters are counted: in bytes, or else in units of UTF-16.
type counting bool

const (
	inUTF16 counting = false
	inBytes counting = true
)

// units counts the characters of a text.
func (c counting) units(s string) int {
	if c == inBytes {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// offsetOf returns the offset of a place. A character behind the end of a line is its end, as the
// protocol has it.
func (c counting) offsetOf(text string, at position) (offset int, ok bool) {
	starts := lineStarts(text)
	if at.Line == len(starts) && at.Character == 0 {
		return len(text), true
	}
	if at.Line < 0 || at.Line >= len(starts) || at.Character < 0 {
		return 0, false
	}
	end := len(text)
	if at.Line+1 < len(starts) {
		end = starts[at.Line+1]
	}
	line := strings.TrimRight(text[starts[at.Line]:end], "\r\n")
	bytes, left := 0, at.Character
	for left > 0 && bytes < len(line) {
		r, size := utf8.DecodeRuneInString(line[bytes:])
		width := max(1, utf16.RuneLen(r))
		if c == inBytes {
			width = size
		}
		if left < width {
			return 0, false // in the middle of a character
		}
		left -= width
		bytes += size
	}
	return starts[at.Line] + bytes, true
}
