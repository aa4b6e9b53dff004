package pager

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

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
func Text(s string) Doc { return newLines(s, nil) }

// lines is a text and the offsets of its lines.
type lines struct {
	s      string
	starts []int
	kinds  []kind // of a diff; nil for other texts
}

// newLines splits s into lines; of, if not nil, returns the kind of each line, in order.
func newLines(s string, of func(line string) kind) *lines {
	s = strings.TrimSuffix(s, "\n")
	l := &lines{s: s, starts: make([]int, 0, strings.Count(s, "\n")+1)}
	at := 0
	for line := range strings.SplitSeq(s, "\n") {
		first := len(l.starts)
		l.add(at, at+len(line))
		if of != nil {
			l.kinds = append(l.kinds, slices.Repeat([]kind{of(line)}, len(l.starts)-first)...)
		}
		at += len(line) + 1
	}
	return l
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
	style := theme.Style{}
	if l.kinds != nil {
		style = l.kinds[i].style(look.Styles)
	}
	var rows []string
	for _, row := range paint.Chop([]paint.Span{{Text: paint.ExpandTabs(sanitize.Text(text))}}, max(1, look.Width)) {
		rows = append(rows, theme.Paint(style, paint.Line(true, row...)))
	}
	return rows
}

// Block returns a Doc that is laid out as a unit, like a table: render returns rows that are
// safe to show; text is for searching.
func Block(text string, render func(look theme.Look) []string) Doc { return block{text, render} }

type block struct {
	text   string
	render func(theme.Look) []string
}

func (b block) Len() int                             { return 1 }
func (b block) Text(int) string                      { return b.text }
func (b block) Rows(_ int, look theme.Look) []string { return b.render(look) }

// Join concatenates docs; the pager can jump from one to the next.
func Join(docs ...Doc) Doc {
	j := &joined{}
	for _, d := range docs {
		if d.Len() > 0 {
			j.docs = append(j.docs, d)
			j.starts = append(j.starts, j.total)
			j.total += d.Len()
		}
	}
	return j
}

// joined is a list of docs and their first lines.
type joined struct {
	docs   []Doc
	starts []int
	total  int
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
	k := sort.SearchInts(j.starts, i+1) - 1
	return j.docs[k], i - j.starts[k]
}
