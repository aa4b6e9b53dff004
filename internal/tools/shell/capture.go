package shell

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSpill is the size that a file with output can reach.
const maxSpill = 64 << 20

// capture keeps the beginning and the end of an output, and all of it in a file
// once it is longer than it will keep. It takes the same memory and the same
// work a byte however much is written. It has one owner at a time.
type capture struct {
	limit int    // characters that finish returns
	part  int    // bytes that head and tail hold at most
	head  []byte // the first bytes
	tail  []byte // the last of what follows head; see write
	total int64
	lines int  // ended ones
	open  bool // the last line is not ended
	spill spill
}

// newCapture returns a capture of limit characters (zero: DefaultLimit) that
// spills into dir ("": nowhere).
func newCapture(limit int, dir string) *capture {
	if limit <= 0 {
		limit = DefaultLimit
	}
	// Half of the characters come from each end, and each may take four bytes.
	return &capture{limit: limit, part: (limit + 1) / 2 * utf8.UTFMax, spill: spill{dir: dir}}
}

// write adds output. It never fails: what cannot be kept is counted.
func (c *capture) write(p []byte) {
	c.total += int64(len(p))
	c.lines += bytes.Count(p, []byte("\n"))
	c.open = len(p) > 0 && p[len(p)-1] != '\n' || len(p) == 0 && c.open
	if c.total > int64(c.part) {
		c.spill.open(c.head)
	}
	c.spill.write(p)
	n := min(len(p), c.part-len(c.head))
	c.head, p = append(c.head, p[:n]...), p[n:]
	if len(p) > c.part {
		c.tail, p = c.tail[:0], p[len(p)-c.part:]
	}
	if len(c.tail)+len(p) > 2*c.part { // at most once for part bytes that were written
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-c.part:]...)
	}
	c.tail = append(c.tail, p...)
}

// kept is what a capture holds in the end.
type kept struct {
	text    string
	omitted int64 // bytes
	lines   int
	file    string // with all of the output; empty if nothing was left out
	notes   []string
}

// finish returns what was kept. Nothing can be written after it.
func (c *capture) finish() kept {
	first, last := c.ends()
	out := kept{omitted: c.total - int64(len(first)+len(last)), lines: c.lines}
	if c.open {
		out.lines++
	}
	binary := isBinary(first)
	if binary {
		out.omitted = c.total
	}
	if out.omitted > 0 {
		c.spill.open(c.head) // if there is no file yet, head holds all
	}
	out.file = c.spill.close(out.omitted > 0)
	where := c.spill.where()
	if out.omitted > 0 {
		out.notes = c.spill.notes()
	}
	switch {
	case binary:
		out.text = fmt.Sprintf("[binary output, %s, not shown%s]", amount(c.total), where)
	case out.omitted > 0:
		out.text = fmt.Sprintf("%s\n[… %s left out here%s …]\n%s",
			valid(first), amount(out.omitted), where, valid(last))
	default:
		out.text = valid(first)
	}
	return out
}

// discard drops what was kept, and the file.
func (c *capture) discard() {
	c.spill.keep = false
	c.spill.close(false)
}

// ends returns the first and the last characters of the output, or all of it and
// nothing if it is within the limit.
func (c *capture) ends() (first, last []byte) {
	if c.total <= int64(len(c.head)+len(c.tail)) { // the two join
		all := slices.Concat(c.head, c.tail)
		if utf8.RuneCount(all) <= c.limit {
			return all, nil
		}
		return firstRunes(all, c.limit/2), lastRunes(all, c.limit-c.limit/2)
	}
	return firstRunes(c.head, c.limit/2), lastRunes(c.tail, c.limit-c.limit/2)
}

func firstRunes(p []byte, n int) []byte {
	end := 0
	for ; n > 0 && end < len(p); n-- {
		_, size := utf8.DecodeRune(p[end:])
		end += size
	}
	return p[:end]
}

func lastRunes(p []byte, n int) []byte {
	start := len(p)
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRune(p[:start])
		start -= size
	}
	return p[start:]
}

func valid(p []byte) string { return strings.ToValidUTF8(string(p), "\uFFFD") }

// isBinary judges the beginning of an output: more than one byte in ten is NUL
// or part of no character. A list that is separated by NULs is text.
func isBinary(p []byte) bool {
	p = p[:min(len(p), 8<<10)]
	bad := bytes.Count(p, []byte{0})
	for rest := p; utf8.FullRune(rest); { // a character cut off at the end is none
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		rest = rest[size:]
	}
	return bad*10 > len(p)
}

// amount writes a number of bytes with thousands apart.
func amount(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n == 1 {
		return "1 byte"
	}
	return digits + " bytes"
}

// spill is a file with an output from its beginning. The zero value with a
// folder makes its file when open is called, once.
type spill struct {
	dir  string
	keep bool // a log, kept even if nothing was left out
	path string
	file *os.File
	size int64
	full bool
	err  error
}

// open makes the file and writes what came before. Later calls do nothing.
func (s *spill) open(before []byte) {
	if s.dir == "" || s.path != "" || s.err != nil {
		return
	}
	if s.err = os.MkdirAll(s.dir, 0o700); s.err != nil {
		return
	}
	if s.file, s.err = os.CreateTemp(s.dir, "command-*.log"); s.err == nil { // 0600
		s.path = s.file.Name()
		s.write(before)
	}
}

// write adds to the file while there is one with room.
func (s *spill) write(p []byte) {
	if s.file == nil || s.err != nil || len(p) == 0 {
		return
	}
	if room := maxSpill - s.size; int64(len(p)) > room {
		p, s.full = p[:room], true
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	s.err = err
}

// notes says what the file does not hold.
func (s *spill) notes() []string {
	switch {
	case s.err != nil:
		return []string{fmt.Sprintf("the output could not be kept in a file: %v", s.err)}
	case s.full:
		return []string{fmt.Sprintf("the file with the output ends after %s", amount(maxSpill))}
	}
	return nil
}

// where says for the middle of a sentence what is in the file.
func (s *spill) where() string {
	switch {
	case s.path == "":
		return ""
	case s.full || s.err != nil:
		return "; its beginning is in " + s.path
	}
	return "; the whole output is in " + s.path
}

// close closes the file and returns its path, or removes it if nobody wants it.
func (s *spill) close(wanted bool) string {
	if s.file == nil {
		return ""
	}
	if err := s.file.Close(); err != nil && s.err == nil {
		s.err = err
	}
	s.file = nil
	if !wanted && !s.keep {
		_ = os.Remove(s.path) // ours, and in our folder: a leftover is harmless
		return ""
	}
	return s.path
}
