package markdown

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/ast"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

const (
	// eager is the size in bytes of the unfinished text up to which every line
	// that may end a block is looked at; larger texts are looked at each time that
	// they have grown by a quarter, so that the work stays linear.
	eager = 1 << 10
	// maxLine is the length in bytes from which a line is taken as plain text:
	// parsing it could take long, and no person wrote it.
	maxLine = 16 << 10
	// maxBlock is the size at which an unfinished block is printed as it stands.
	maxBlock = 256 << 10
)

// splitter finds the blocks that are finished. Which blocks it prints, and how,
// follows from the lines alone.
type splitter struct {
	emit func(lines []string)

	pending   []byte // whole lines whose blocks are not finished
	tried     int    // the size of pending when nothing in it was finished
	prevBlank bool   // the line before was blank
	fence     *fence // the code block that the text is in, if it is
	list      *carry // the list whose items before pending are printed
	printed   bool   // something is printed
	gap       bool   // a blank line goes before the next line
}

// line takes one line, its newline included.
func (s *splitter) line(line []byte, opt Options) {
	if s.fence != nil {
		s.fenceLine(line, opt)
		return
	}
	if len(line) > maxLine || len(s.pending) > maxBlock {
		s.settle(true, opt)
		if s.fence != nil {
			s.fenceLine(line, opt)
			return
		}
	}
	if len(line) > maxLine {
		f := paint.NewFlow(opt.Width, opt.NoColor, paint.Indent{})
		f.Text(string(line), paint.Style{})
		s.block(f.Lines())
		return
	}
	s.pending = append(s.pending, line...)
	if s.due(line) {
		s.settle(false, opt)
	}
}

func (s *splitter) close(opt Options) {
	s.settle(true, opt)
	s.fence = nil
}

// due says whether it is worth while to look for finished blocks.
func (s *splitter) due(line []byte) bool {
	text := bytes.TrimSpace(line)
	blank, wasBlank := len(text) == 0, s.prevBlank
	s.prevBlank = blank
	switch {
	case blank && wasBlank:
		return false
	case !blank && !wasBlank && isLetter(text[0]):
		return false
	}
	return len(s.pending) <= eager || len(s.pending) >= s.tried+s.tried/4
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// settle prints the blocks of pending that no further line can change; with all,
// every block.
func (s *splitter) settle(all bool, opt Options) {
	if len(s.pending) == 0 {
		return
	}
	doc, src := parse(s.pending)
	r := typesetter{opt: opt, src: src}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if !all && s.unfinished(n, src) {
			s.keep(n, &r)
			return
		}
		s.block(r.top(n, s.list))
		s.list = nil
	}
	s.pending, s.tried = s.pending[:0], 0
}

// unfinished says whether a further line can change n.
func (s *splitter) unfinished(n ast.Node, src []byte) bool {
	if next := n.NextSibling(); next != nil {
		// A table begins as the last lines of a paragraph.
		return isTable(next) && lineStart(next, src) == lineStart(n, src) && s.unfinished(next, src)
	}
	switch n.Kind() {
	case ast.KindHeading, ast.KindThematicBreak:
		return false
	case ast.KindParagraph, ast.KindBlockquote, kindTable:
		return !endsBlank(src)
	case ast.KindFencedCodeBlock:
		return !closedFence(src[lineStart(n, src):])
	}
	return true
}

// endsBlank says whether the last line of src is blank.
func endsBlank(src []byte) bool {
	src = bytes.TrimSuffix(src, []byte("\n"))
	return len(bytes.TrimSpace(src[bytes.LastIndexByte(src, '\n')+1:])) == 0
}

// keep leaves n and what follows it for later: but the lines of a code block are
// finished when they are whole, and the items of a list when the next one begins.
func (s *splitter) keep(n ast.Node, r *typesetter) {
	start := lineStart(n, r.src)
	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		lines := bytes.SplitAfter(r.src[start:], []byte("\n"))
		s.fence = openFence(lines[0], r.opt)
		s.list = nil
		s.begin()
		s.pending, s.tried = nil, 0
		for _, line := range lines[1 : len(lines)-1] {
			s.fenceLine(line, r.opt)
		}
		return
	case *ast.List:
		if n.ChildCount() > 1 {
			lines, list := r.items(n, s.list, n.LastChild(), paint.Indent{})
			s.block(lines)
			s.list = &list
			start = lineStart(n.LastChild(), r.src)
		}
	}
	s.pending = slices.Delete(s.pending, 0, start)
	s.tried = len(s.pending)
}

func (s *splitter) fenceLine(line []byte, opt Options) {
	if s.fence.ends(line) {
		if s.fence.wide {
			s.lines(wrapped(paint.Indent{}, opt))
		}
		s.fence = nil
		return
	}
	s.lines(s.fence.render(line, opt))
}

// block prints a block.
func (s *splitter) block(lines []string) {
	s.begin()
	s.lines(lines)
}

// begin opens a block: a blank line parts it from what is above, unless it goes on
// with a list that is printed in part.
func (s *splitter) begin() {
	s.gap = s.printed && s.list == nil
}

func (s *splitter) lines(lines []string) {
	if len(lines) == 0 {
		return
	}
	if s.gap {
		s.emit([]string{""})
	}
	s.gap, s.printed = false, true
	s.emit(lines)
}

// preview renders what is not finished as if it were.
func (s *splitter) preview(doc ast.Node, src []byte, opt Options) []string {
	var out []string
	p := splitter{printed: s.printed, list: s.list, emit: func(lines []string) { out = append(out, lines...) }}
	r := typesetter{opt: opt, src: src}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		p.block(r.top(n, p.list))
		p.list = nil
	}
	return out
}

// lineStart returns where the line begins on which n begins.
func lineStart(n ast.Node, src []byte) int {
	return bytes.LastIndexByte(src[:n.Pos()], '\n') + 1
}
