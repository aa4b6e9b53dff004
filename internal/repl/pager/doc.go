package pager

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Doc is a text that is laid out line by line, as it scrolls into view.
type Doc interface {
	// Len returns the number of lines.
	Len() int
	// Rows returns line i in rows that fit the terminal and are safe to show.
	Rows(i int, look theme.Look) []string
	// Text returns the searchable text of line i.
	Text(i int) string
}

// longLine is the number of bytes after which a line is split, so that the cost of a frame
// does not depend on the length of a line.
const longLine = 4 << 10

// Text returns a Doc for plain text. It drops escape sequences.
func Text(s string) Doc {
	s = strings.TrimSuffix(s, "\n")
	l := &lines{s: s, starts: make([]int, 0, strings.Count(s, "\n")+1)}
	at := 0
	for line := range strings.SplitSeq(s, "\n") {
		l.add(at, at+len(line))
		at += len(line) + 1
	}
	return l
}

// lines is a text and the offsets of its lines.
type lines struct {
	s      string
	starts []int
}

// add adds the line from start to end, split if it is too long.
func (l *lines) add(start, end int) {
	l.starts = append(l.starts, start)
	for end-start > longLine {
		n := longLine
		for n > longLine-utf8.UTFMax && !utf8.RuneStart(l.s[start+n]) {
			n--
		}
		start += n
		l.starts = append(l.starts, start)
	}
}

// Len implements Doc.
func (l *lines) Len() int { return len(l.starts) }

// Text implements Doc.
func (l *lines) Text(i int) string {
	end := len(l.s)
	if i+1 < len(l.starts) {
		end = l.starts[i+1]
	}
	text := strings.TrimRight(l.s[l.starts[i]:end], "\r\n")
	if strings.IndexByte(text, 0x1b) >= 0 {
		text = sanitize.StripANSI(text)
	}
	return text
}

// Rows implements Doc.
func (l *lines) Rows(i int, look theme.Look) []string {
	text := l.Text(i)
	if at := strings.LastIndexByte(text, '\r'); at >= 0 {
		text = text[at+1:] // overwritten progress output
	}
	var rows []string
	for _, row := range paint.Chop([]paint.Span{{Text: paint.ExpandTabs(sanitize.Text(text))}}, max(1, look.Width)) {
		rows = append(rows, paint.Line(true, row...))
	}
	return rows
}

// Block returns a Doc that is laid out as a unit, like a table: render returns rows that are
// safe to show; text is for searching.
func Block(text string, render func(look theme.Look) []string) Doc { return block{text, render} }

// Marked returns a Doc for Markdown.
func Marked(text string) Doc {
	return Block(text, func(look theme.Look) []string {
		return markdown.Page(text, markdown.Options{Width: look.Width, NoColor: look.NoColor})
	})
}

type block struct {
	text   string
	render func(theme.Look) []string
}

func (b block) Len() int                             { return 1 }
func (b block) Text(int) string                      { return b.text }
func (b block) Rows(_ int, look theme.Look) []string { return b.render(look) }

// length returns the number of lines of the text of d, those of its blocks included.
func length(d Doc) int {
	switch d := d.(type) {
	case block:
		return 1 + strings.Count(d.text, "\n")
	case *joined:
		return d.length
	}
	return d.Len()
}

// spanOf returns the first and the last line of the text of d, from 1, at a row of line i, which has
// rows rows. In a block they are estimated.
func spanOf(d Doc, i, row, rows int) (first, last int) {
	switch d := d.(type) {
	case block:
		n := length(d)
		return row*n/rows + 1, max(1, ((row+1)*n+rows-1)/rows)
	case *joined:
		k := d.at(i)
		first, last = spanOf(d.docs[k], i-d.starts[k], row, rows)
		return first + d.before[k], last + d.before[k]
	}
	return i + 1, i + 1
}

// Join concatenates docs; the pager can jump from one to the next.
func Join(docs ...Doc) Doc {
	j := &joined{}
	for _, d := range docs {
		if d.Len() > 0 {
			j.docs = append(j.docs, d)
			j.starts, j.before = append(j.starts, j.total), append(j.before, j.length)
			j.total, j.length = j.total+d.Len(), j.length+length(d)
		}
	}
	return j
}

// joined is a list of docs and their first lines.
type joined struct {
	docs   []Doc
	starts []int
	total  int
	before []int // the lines of text before each doc
	length int   // the lines of text of all
}

func (j *joined) Len() int { return j.total }

func (j *joined) Rows(i int, look theme.Look) []string {
	d, n := j.part(i)
	return d.Rows(n, look)
}

func (j *joined) Text(i int) string {
	d, n := j.part(i)
	return d.Text(n)
}

// part returns the doc that contains line i, and the line's index in it.
func (j *joined) part(i int) (Doc, int) {
	k := j.at(i)
	return j.docs[k], i - j.starts[k]
}

// at returns the number of the doc that contains line i.
func (j *joined) at(i int) int { return sort.SearchInts(j.starts, i+1) - 1 }
