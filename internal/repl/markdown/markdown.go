// Package markdown renders Markdown for a terminal as it arrives. It guarantees that finished
// lines never change; that no text is lost or repeated, however the input is cut; that the
// cost of a piece and of a frame depends on the unfinished block, not on the length of the
// text; and that the text can do nothing but be shown: HTML appears as written, a link shows
// its destination, control characters become visible.
//
// Glamour draws whole pages and tables, this package everything else (docs/adr/0014). Reference links
// ("[text][1]") stay as written, because their definitions may follow after the text is on
// the screen.
package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Options describes the terminal to render for.
type Options struct {
	Width   int  // columns; lines are at most this wide
	NoColor bool // no escape sequences; emphasis keeps its marks
	// Wrapped is a remark below code with lines that are too wide, such as how to copy it;
	// empty for none.
	Wrapped string
}

// maxTail is the size in bytes up to which Tail renders an unfinished block; it shows the end
// of a larger one as written.
const maxTail = 4 << 10

// Stream renders one text that arrives in pieces. It is not safe for concurrent use.
type Stream struct {
	opt     Options
	clean   sanitize.Stream
	cr      bool   // a pending carriage return
	partial []byte // the incomplete line
	split   splitter
	out     []string // finished, not yet returned
	tail    tail
}

// New returns a Stream for one text.
func New(opt Options) *Stream {
	s := &Stream{opt: opt}
	s.split.emit = func(lines []string) { s.out = append(s.out, lines...) }
	return s
}

// Push adds text, cut anywhere, and returns the lines that it finishes. They precede
// everything that follows and never change.
func (s *Stream) Push(text string) []string {
	s.add(s.clean.Push(s.unifyNewlines(text)))
	return s.take()
}

// Close ends the text and returns its last lines. The Stream must not be used afterwards.
func (s *Stream) Close() []string {
	if s.cr {
		s.cr = false
		s.add(s.clean.Push("\r"))
	}
	s.add(s.clean.Close())
	if len(s.partial) > 0 {
		s.add("\n")
	}
	s.split.close(s.opt)
	return s.take()
}

// Resize changes the width for lines rendered from now on.
func (s *Stream) Resize(width int) {
	s.opt.Width = width
	s.tail = tail{}
}

// Render renders a complete text.
func Render(text string, opt Options) []string {
	s := New(opt)
	return append(s.Push(text), s.Close()...)
}

func (s *Stream) take() []string {
	out := s.out
	s.out = nil
	return out
}

// unifyNewlines turns CRLF, which may be split, into LF.
func (s *Stream) unifyNewlines(text string) string {
	if s.cr {
		text = "\r" + text
		s.cr = false
	}
	if strings.HasSuffix(text, "\r") {
		s.cr = true
		text = text[:len(text)-1]
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

func (s *Stream) add(text string) {
	if text == "" {
		return
	}
	s.tail.valid = false
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			s.partial = append(s.partial, text...)
			return
		}
		s.partial = append(s.partial, text[:i+1]...)
		s.split.line(s.partial, s.opt)
		s.partial = s.partial[:0]
		text = text[i+1:]
	}
}

// tail caches the last rendering of the unfinished part.
type tail struct {
	lines []string
	valid bool
	table int // size of the unfinished text whose last block is the table in lines; 0 if none
}

// Tail returns at most the last n lines of the unfinished part, where n is most. It is cheap
// enough for every frame.
func (s *Stream) Tail(most int) []string {
	if !s.tail.valid {
		s.tail.lines = s.renderTail(most)
		s.tail.valid = true
	}
	lines := s.tail.lines
	return slices.Clip(lines[len(lines)-min(most, len(lines)):])
}

func (s *Stream) renderTail(most int) []string {
	partial := s.partial
	if f := s.split.fence; f != nil {
		s.tail.table = 0
		return f.peek(partial, s.split.gap, s.opt)
	}
	if len(bytes.Trim(partial, "-= \t\n")) == 0 {
		partial = nil // may turn the text above into a heading, or begin a list
	}
	pending := s.split.pending
	if len(pending)+len(partial) > maxTail {
		s.tail.table = 0
		return plainTail(append(slices.Clip(pending), partial...), most, s.opt)
	}
	doc, src := parse(slices.Concat(pending, partial))
	if last := doc.LastChild(); isTable(last) && len(partial) > 0 {
		if s.tail.table == len(pending) {
			return s.tail.lines
		}
		doc, src = parse(slices.Clone(pending)) // show only complete rows
	}
	s.tail.table = 0
	if isTable(doc.LastChild()) {
		s.tail.table = len(pending)
	}
	return s.split.preview(doc, src, s.opt)
}

func isTable(n ast.Node) bool {
	return n != nil && n.Kind() == kindTable
}

// plainTail returns the end of a long unfinished text as written.
func plainTail(text []byte, most int, opt Options) []string {
	if room := (most + 1) * opt.Width; len(text) > room {
		text = text[len(text)-room:]
		for len(text) > 0 && text[0]&0xC0 == 0x80 {
			text = text[1:]
		}
	}
	f := paint.NewFlow(opt.Width, opt.NoColor, paint.Indent{})
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		if i > 0 {
			f.Break()
		}
		f.Text(line, paint.Style{})
	}
	return f.Lines()
}
