package paint

import (
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// Flow wraps text into lines. It breaks between words if the word fits on a line, collapses
// blanks, and may break between any two wide characters.
type Flow struct {
	w       writer
	width   int
	indent  Indent
	firstW  int // width of indent.First
	restW   int
	lines   []string
	col     int // columns used in the current line, including its indent
	started bool
	word    []Span
	wordW   int
	gap     *Style // a pending blank before the next word, in this style
}

// Indent prefixes the lines of a block: First the first line, Rest the others.
type Indent struct{ First, Rest []Span }

// NewFlow returns a Flow for lines of at most width columns.
func NewFlow(width int, plain bool, indent Indent) *Flow {
	return &Flow{
		w: writer{plain: plain}, width: width,
		indent: indent, firstW: WidthOf(indent.First), restW: WidthOf(indent.Rest),
	}
}

// Text adds text; blanks, tabs and newlines separate words.
func (f *Flow) Text(text string, style Style) {
	for text != "" {
		i := strings.IndexAny(text, " \t\n")
		if i < 0 {
			f.addWord(text, style)
			return
		}
		if i > 0 {
			f.addWord(text[:i], style)
		}
		f.blank(style)
		text = text[i+1:]
	}
}

// Break ends the line.
func (f *Flow) Break() {
	f.flushWord()
	f.endLine()
}

// Lines ends the text and returns its lines, at least one.
func (f *Flow) Lines() []string {
	f.flushWord()
	if f.started || len(f.lines) == 0 {
		f.endLine()
	}
	return f.lines
}

func (f *Flow) blank(style Style) {
	f.flushWord()
	if f.gap == nil {
		f.gap = &style
	}
}

func (f *Flow) addWord(text string, style Style) {
	for text != "" {
		if n := ascii(text); n > 0 {
			f.extend(text[:n], n, style)
			text = text[n:]
			continue
		}
		size, w := cells.First(text)
		r, _ := utf8.DecodeRuneInString(text)
		wide := cells.Rune(r) > 1
		if wide && !sticks(text) {
			f.flushWord()
		}
		f.extend(text[:size], w, style)
		text = text[size:]
		if wide && !sticks(text) {
			f.flushWord()
		}
	}
}

// ascii returns the length of the longest prefix of s that is ASCII and not joined by what
// follows.
func ascii(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return max(0, i-1)
		}
	}
	return len(s)
}

// sticks reports whether s begins with a mark that must not begin a line.
func sticks(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("、。，．！？：；）」』】〕,.!?:;)", r)
}

func (f *Flow) extend(text string, w int, style Style) {
	if n := len(f.word); n > 0 && f.word[n-1].Style == style {
		f.word[n-1].Text += text
	} else {
		f.word = append(f.word, Span{Text: text, Style: style})
	}
	f.wordW += w
}

func (f *Flow) flushWord() {
	if len(f.word) == 0 {
		return
	}
	gap := f.gap
	f.gap = nil
	f.begin()
	used := f.col - f.indentWidth()
	if gap != nil && used > 0 {
		if f.col+1+f.wordW <= f.width {
			f.w.write(" ", *gap)
			f.col++
		} else {
			f.endLine()
		}
	} else if used > 0 && f.col+f.wordW > f.width {
		f.endLine()
	}
	for _, s := range f.word {
		f.put(s)
	}
	f.word, f.wordW = f.word[:0], 0
}

// put writes a piece of a word; it cuts a word wider than a line.
func (f *Flow) put(s Span) {
	for {
		f.begin()
		n, w := cells.Fit(s.Text, f.width-f.col)
		if n == 0 && f.col == f.indentWidth() {
			n, w = cells.FitSome(s.Text, f.width-f.col)
		}
		f.w.write(s.Text[:n], s.Style)
		f.col += w
		if n == len(s.Text) {
			return
		}
		s.Text = s.Text[n:]
		f.endLine()
	}
}

func (f *Flow) indentWidth() int {
	if len(f.lines) == 0 {
		return f.firstW
	}
	return f.restW
}

// begin writes the indent of a line, once.
func (f *Flow) begin() {
	if f.started {
		return
	}
	f.started = true
	indent := f.indent.Rest
	if len(f.lines) == 0 {
		indent = f.indent.First
	}
	for _, s := range indent {
		f.w.write(s.Text, s.Style)
	}
	f.col = f.indentWidth()
}

func (f *Flow) endLine() {
	f.begin()
	f.lines = append(f.lines, f.w.line())
	f.started, f.col, f.gap = false, 0, nil
}

// Code adds text and keeps every blank in it.
func (f *Flow) Code(text string, style Style) {
	for text != "" {
		n := len(text) - len(strings.TrimLeft(text, " "))
		switch {
		case n == 1:
			f.blank(style)
		case n > 1:
			f.addWord(text[:n], style)
		default:
			n = strings.IndexByte(text, ' ')
			if n < 0 {
				n = len(text)
			}
			f.addWord(text[:n], style)
		}
		text = text[n:]
	}
}
