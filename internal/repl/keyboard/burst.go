package keyboard

import (
	"bytes"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// pasting is the longest time between two parts of a paste without brackets.
	pasting = 30 * time.Millisecond
	// escaping is the time after which Esc is a key of its own, and sending the longest time between two
	// parts of a key that is sure to go on.
	escaping, sending = 50 * time.Millisecond, 250 * time.Millisecond
)

// unfinished returns how long to wait for more input after b: zero if b does not end in the middle of
// something.
func unfinished(b []byte) time.Duration {
	text := b[silent(b):]
	if end := bytes.TrimRight(text, "\r\n"); len(end) < len(text) && len(end) > 1 && plain(text) == len(text) {
		return pasting // a line, or the first of several
	}
	i := bytes.LastIndexByte(b, esc)
	if i < 0 {
		return 0
	}
	switch tail := string(b[i:]); {
	case tail == "\x1b", tail == "\x1b[", tail == "\x1bO", tail == "\x1b]", tail == "\x1bP":
		return escaping
	case tail[1] == '[' && span([]byte(tail[2:]), "0123456789:;<=>?") == len(tail)-2:
		return sending
	}
	return 0
}

// silent returns the length of the keys and reports at the start of b that type nothing.
func silent(b []byte) int {
	n := 0
	for n < len(b) && plain(b[n:]) == 0 && !bytes.HasPrefix(b[n:], []byte(begin)) {
		size, is := report(b[n:])
		switch {
		case is == whole:
		case b[n] == esc && n+1 < len(b) && b[n+1] == '[':
			size = 2 + span(b[n+2:], "0123456789:;<=>?") + 1
		case b[n] == esc && n+1 < len(b) && b[n+1] == 'O':
			size = 3
		case b[n] == esc && n+1 < len(b):
			_, size = utf8.DecodeRune(b[n+1:])
			size++
		default:
			size = 1
		}
		n += size
	}
	return min(n, len(b))
}

// lines returns the length of the text at the start of b if it is a paste: it goes on after the end of a
// line.
func lines(b []byte) int {
	text := b[:plain(b)]
	i := bytes.IndexAny(text, "\r\n")
	const least = 4 // shorter, it may be keys that wait for a slow program
	if i < 0 || len(text) < least || len(bytes.TrimFunc(text[i:], unicode.IsSpace)) == 0 {
		return 0
	}
	return len(text)
}

// plain returns the length of the text at the start of b: all before a key that types nothing.
func plain(b []byte) int {
	i := bytes.IndexFunc(b, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\r' && r != '\n' })
	if i < 0 {
		return len(b)
	}
	return i
}
