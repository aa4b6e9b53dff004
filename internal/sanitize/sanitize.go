// Package sanitize makes text from outside (a model, a tool, a file, a name) safe to show
// in a terminal. It guarantees that its output holds only printable characters, newlines
// and tabs: characters that could move the cursor, change a mode or disguise text are
// shown as \u{…}, and bytes that are not UTF-8 as \x….
package sanitize

import (
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text returns s with every character that is not printable shown as \u{…}. It keeps
// newlines and tabs, but not carriage returns. It returns a text that needs no change
// without allocating.
func Text(s string) string {
	n, prev := clean(s, 0)
	if n == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	b.WriteString(s[:n])
	appendShown(&b, s[n:], prev, true)
	return b.String()
}

// Line is Text for a single line: it writes a newline as \n, a carriage return as \r and
// a tab as \t, each with a backslash.
func Line(s string) string {
	if strings.ContainsAny(s, "\n\r\t") {
		s = lineBreaks.Replace(s)
	}
	return Text(s)
}

var lineBreaks = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`)

// Stream is Text for text that arrives in pieces, cut anywhere, even inside a character:
// the results of Push and Close add up to what Text (or, with Strip set, StripANSI)
// returns for all of it. The zero value is ready to use.
type Stream struct {
	// Strip drops escape sequences, as StripANSI does. Set it before the first Push.
	Strip bool

	strip stripper
	rest  string // the unfinished end of the last piece, a few bytes
	prev  rune   // the character before rest
}

// Push returns the part of the text that is final after chunk.
func (s *Stream) Push(chunk string) string {
	if s.Strip {
		chunk = s.strip.push(chunk)
	}
	if s.rest != "" {
		chunk = s.rest + chunk
		s.rest = ""
	}
	n, prev := clean(chunk, s.prev)
	if n == len(chunk) {
		s.prev = prev
		return chunk
	}
	var b strings.Builder
	b.WriteString(chunk[:n])
	done, prev := appendShown(&b, chunk[n:], prev, false)
	s.rest, s.prev = strings.Clone(chunk[n+done:]), prev
	return b.String()
}

// Close ends the text: it shows an unfinished character as bytes.
func (s *Stream) Close() string {
	var b strings.Builder
	appendShown(&b, s.rest, s.prev, true)
	*s = Stream{Strip: s.Strip}
	return b.String()
}

// clean returns the length of the longest prefix of s that is shown unchanged, and its
// last character, or prev if it is empty.
func clean(s string, prev rune) (int, rune) {
	i := 0
	for i < len(s) {
		if n := cleanASCII(s[i:]); n > 0 {
			i += n
			prev = rune(s[i-1])
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r < utf8.RuneSelf || r == utf8.RuneError && size == 1 || !shown(r, prev, s[i+size:]) {
			break
		}
		i += size
		prev = r
	}
	return i, prev
}

// cleanASCII returns the length of the longest prefix of s of printable ASCII, newlines
// and tabs. It checks eight bytes at a time.
func cleanASCII(s string) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := binary.LittleEndian.Uint64([]byte(s[i : i+8]))
		del := x ^ (ones * 0x7f)
		suspect := x | (x - ones*0x20) | (del - ones)
		if suspect&high == 0 {
			continue
		}
		for j := i; j < i+8; j++ {
			if !cleanByte(s[j]) {
				return j
			}
		}
	}
	for ; i < len(s); i++ {
		if !cleanByte(s[i]) {
			return i
		}
	}
	return i
}

// appendShown writes s to b with unprintable characters made visible. It returns the
// number of bytes used and the last character of them; unless final, it leaves an end
// that more text could change.
func appendShown(b *strings.Builder, s string, prev rune, final bool) (int, rune) {
	for i := 0; i < len(s); {
		if !final && undecided(s[i:], prev) {
			return i, prev
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		asIs := (r != utf8.RuneError || size > 1) && shown(r, prev, s[i+size:])
		switch {
		case asIs:
			b.WriteString(s[i : i+size])
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x`)
			b.WriteByte(hexDigits[s[i]>>4])
			b.WriteByte(hexDigits[s[i]&15])
		default:
			b.WriteString(`\u{`)
			b.WriteString(strconv.FormatInt(int64(r), 16))
			b.WriteByte('}')
		}
		i += size
		prev = past(r, asIs)
	}
	return len(s), prev
}

const hexDigits = "0123456789abcdef"

// undecided reports whether the character at the start of s depends on text to come.
func undecided(s string, prev rune) bool {
	if !utf8.FullRuneInString(s) {
		return true
	}
	r, size := utf8.DecodeRuneInString(s)
	rest := s[size:]
	return (r == joiner || r == emojiStyle && keycapBase(prev)) && !utf8.FullRuneInString(rest)
}
