package markdown

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/ast"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

const (
	// eager is the size in bytes of unfinished text up to which every possible end of a block
	// is checked. Larger texts are checked each time they have grown by a quarter, so that
	// the work stays linear.
	eager = 1 << 10
	// maxLine is the length in bytes above which a line is plain text: parsing it could be
	// slow, and no person wrote it.
	maxLine = 16 << 10
	// maxBlock is the size in bytes at which an unfinished block is printed.
	maxBlock = 256 << 10
)

// splitter finds finished blocks. The lines alone determine which blocks it prints, and how.
type splitter struct {
	emit func(lines []string)

	pending   []byte     // complete lines of unfinished blocks
	tried     int        // size of pending at the last fruitless check
	prevBlank bool       // the previous line was blank
	fence     *fence     // the code block that is open, or nil
	list      *listState // the list whose items before pending are printed, or nil
	printed   bool       // something has been printed
	gap       bool       // a blank line precedes the next line
}

// line adds one line, including its newline.
func (s *splitter) line(line []byte, opt Options) {
	if s.fence != nil {
		s.fenceLine(line, opt)
		return
	}
	if len(line) > maxLine || len(s.pending) > maxBlock {
		s.printFinished(true, opt)
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
		s.printFinished(false, opt)
	}
}

func (s *splitter) close(opt Options) {
	s.printFinished(true, opt)
	s.fence = nil
}

// due reports whether to look for finished blocks.
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

// printFinished prints the blocks of pending that no further line can change; if all, every block.
func (s *splitter) printFinished(all bool, opt Options) {
	if len(s.pending) == 0 {
		return
	}
	doc, src := parse(s.pending)
	r := typesetter{opt: opt, src: src}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if !all && s.unfinished(n, src) {
			s.retain(n, &r)
			return
		}
		s.block(r.top(n, s.list))
		s.list = nil
	}
	s.pending, s.tried = s.pending[:0], 0
}

// unfinished reports whether a further line can change n.
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

// endsBlank reports whether the last line of src is blank.
func endsBlank(src []byte) bool {
	src = bytes.TrimSuffix(src, []byte("\n"))
	return len(bytes.TrimSpace(src[bytes.LastIndexByte(src, '\n')+1:])) == 0
}

// retain keeps n and everything after it, except for complete lines of a code block and all
// but the last item of a list, which are finished.
func (s *splitter) retain(n ast.Node, r *typesetter) {
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

// begin starts a block: a blank line separates it from the one above, unless it continues a
// list.
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

// preview renders the unfinished part as if it were complete.
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

// lineStart returns the start of the line on which n begins.
func lineStart(n ast.Node, src []byte) int {
	return bytes.LastIndexByte(src[:n.Pos()], '\n') + 1
}
