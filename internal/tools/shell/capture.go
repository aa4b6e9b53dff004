package shell

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// capture keeps the beginning and the end of an output and, once it is too long, all of
// it in a file. Its memory, and its work per byte, do not depend on the size of the
// output. It has one owner at a time.
type capture struct {
	limit    int    // characters that Finish returns
	part     int    // bytes that head and tail hold at most
	head     []byte // the first bytes
	tail     []byte // the end of the rest; see Write
	total    int64
	lines    int  // number of ended lines
	open     bool // the last line has not ended
	spill    spill
	encoding text.Encoding // as of Jobs
}

// newCapture returns a capture of limit characters that spills into dir; "" for nowhere.
func newCapture(limit int, dir string) *capture {
	// Half of the characters come from each end; each may take four bytes.
	return &capture{limit: limit, part: (limit + 1) / 2 * utf8.UTFMax, spill: spill{dir: dir}}
}

// Write adds output. It never fails: it counts the bytes it cannot keep.
func (c *capture) Write(p []byte) {
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
	if len(c.tail)+len(p) > 2*c.part { // at most once per c.part bytes written
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-c.part:]...)
	}
	c.tail = append(c.tail, p...)
}

// captured is the final content of a capture.
type captured struct {
	Text    string
	Omitted int64 // bytes
	Lines   int
	File    string // with all output; empty if nothing was left out
	Notes   []string
}

// Finish returns the output kept. Nothing can be written afterwards.
func (c *capture) Finish() captured {
	first, last := c.ends()
	out := captured{Omitted: c.total - int64(len(first)+len(last)), Lines: c.lines}
	if c.open {
		out.Lines++
	}
	binary := text.IsBinary(first, c.encoding)
	if binary {
		out.Omitted = c.total
	}
	if out.Omitted > 0 {
		c.spill.open(c.head) // if there is no file yet, head holds everything
	}
	out.File = c.spill.close(out.Omitted > 0)
	where := c.spill.where()
	if out.Omitted > 0 {
		out.Notes = c.spill.notes()
	}
	switch {
	case binary:
		out.Text = fmt.Sprintf("[binary output, %s, not shown%s]", amount(c.total), where)
	case out.Omitted > 0:
		out.Text = fmt.Sprintf("%s\n[… %s left out here%s …]\n%s",
			text.Output(first, c.encoding), amount(out.Omitted), where, text.Output(last, c.encoding))
	default:
		out.Text = text.Output(first, c.encoding)
	}
	return out
}

// Log creates the file, with the output so far, and keeps it even if nothing is left out.
func (c *capture) Log() (path string, err error) {
	c.spill.keep = true
	c.spill.open(c.head) // if there is no file yet, head holds everything
	return c.spill.path, c.spill.err
}

// Discard drops the output and the file.
func (c *capture) Discard() {
	c.spill.keep = false
	c.spill.close(false)
}

// ends returns the first and the last characters of the output, or all of it and nil if
// it is within the limit.
func (c *capture) ends() (first, last []byte) {
	if c.total <= int64(len(c.head)+len(c.tail)) { // head and tail are contiguous
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
