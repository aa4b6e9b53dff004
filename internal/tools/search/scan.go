package search

import (
	"bytes"
	"regexp"
	"unicode/utf8"
)

// Line is a matching line of a file, or one near it.
type Line struct {
	Number int    // 1-based
	Text   string // valid UTF-8, without line ending, at most maxLine bytes and an ellipsis
	Match  bool
}

// maxLine is the number of bytes shown of a line.
const maxLine = 400

// matcher finds the matching lines of a file. It is safe for concurrent use.
type matcher struct {
	re       *regexp.Regexp
	literals []literal
}

func newMatcher(expr string) (matcher, error) {
	tree, err := parse(expr)
	if err != nil {
		return matcher{}, err
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return matcher{}, err
	}
	return matcher{re: re, literals: required(tree)}, nil
}

// span is the bytes of a line without its line ending.
type span struct{ from, to int }

// scan returns at most limit matching lines of data, which is valid UTF-8, with context lines
// around each. more reports whether there are further matches.
func (m matcher) scan(data []byte, context, limit int) (lines []Line, matches int, more bool) {
	c := collector{data: data, context: context}
	next := m.candidates(data)
	for at := 0; at < len(data); {
		at = next(at)
		if at >= len(data) {
			break
		}
		s := lineAround(data, at)
		if loc := m.re.FindIndex(data[s.from:s.to]); loc != nil {
			if matches == limit {
				return c.finish(), matches, true
			}
			matches++
			c.add(s, loc)
		}
		at = behind(data, s)
	}
	return c.finish(), matches, false
}

// count returns the number of matching lines of data, which is valid UTF-8, or limit if there are
// more.
func (m matcher) count(data []byte, limit int) int {
	n := 0
	next := m.candidates(data)
	for at := next(0); at < len(data) && n < limit; {
		s := lineAround(data, at)
		if m.re.Match(data[s.from:s.to]) {
			n++
		}
		if at = behind(data, s); at < len(data) {
			at = next(at)
		}
	}
	return n
}

// candidates returns a function that returns the next place, from at on, whose line may
// match.
func (m matcher) candidates(data []byte) func(at int) int {
	if len(m.literals) == 0 {
		return func(at int) int { return at }
	}
	known := make([]int, len(m.literals))
	for i := range known {
		known[i] = -1
	}
	return func(at int) int {
		best := len(data)
		for i, l := range m.literals {
			if known[i] < at {
				known[i] = len(data)
				if j := l.index(data[at:]); j >= 0 {
					known[i] = at + j
				}
			}
			best = min(best, known[i])
		}
		return best
	}
}

func lineAround(data []byte, at int) span {
	from := bytes.LastIndexByte(data[:at], '\n') + 1
	to := len(data)
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		to = at + i
	}
	if to > from && to < len(data) && data[to-1] == '\r' {
		to--
	}
	return span{from, to}
}

// behind returns the beginning of the line after s.
func behind(data []byte, s span) int {
	at := s.to
	if at < len(data) && data[at] == '\r' {
		at++
	}
	return min(at+1, len(data))
}

// collector builds lines with context from matching lines, given in order.
type collector struct {
	data    []byte
	context int
	lines   []Line
	number  int // of the line that begins at counted
	counted int
	tail    span // the last matching line
	open    bool // the context after tail is still to be added
}

func (c *collector) add(s span, loc []int) {
	c.after(s.from)
	before := make([]span, 0, c.context)
	for at := s.from; len(before) < c.context && at > 0; {
		prev := lineAround(c.data, at-1)
		if c.open && prev.from < behind(c.data, c.tail) {
			break
		}
		before = append(before, prev)
		at = prev.from
	}
	for i := len(before) - 1; i >= 0; i-- {
		c.put(before[i], nil)
	}
	c.put(s, loc)
	c.tail, c.open = s, true
}

// after adds the context after the last match, up to limit, and moves tail on.
func (c *collector) after(limit int) {
	if !c.open {
		return
	}
	for range c.context {
		at := behind(c.data, c.tail)
		if at >= limit || at >= len(c.data) {
			return
		}
		c.tail = lineAround(c.data, at)
		c.put(c.tail, nil)
	}
}

func (c *collector) put(s span, loc []int) {
	c.number += bytes.Count(c.data[c.counted:s.from], []byte{'\n'})
	c.counted = s.from
	c.lines = append(c.lines, Line{Number: c.number + 1, Text: cut(c.data[s.from:s.to], loc), Match: loc != nil})
}

func (c *collector) finish() []Line {
	c.after(len(c.data))
	return c.lines
}

// cut returns a line for display, and of a long line only the part around the match.
func cut(line []byte, loc []int) string {
	if len(line) <= maxLine {
		return string(line)
	}
	start := 0
	if loc != nil && loc[1] > maxLine {
		start = min(max(loc[0]-maxLine/4, 0), len(line)-maxLine)
	}
	end := start + maxLine
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	text := string(line[start:end])
	if start > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}
