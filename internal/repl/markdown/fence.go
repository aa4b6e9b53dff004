package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/highlight"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// codeIndent precedes each line of code.
const codeIndent = "  "

// fence is a fenced code block being received. Each complete line of it is final.
type fence struct {
	char   byte
	length int
	indent int // blanks to strip from each line
	code   *highlight.Lines
	wide   bool // a line was wrapped
}

// openFence returns the code block that line begins.
func openFence(line []byte, opt Options) *fence {
	text := bytes.TrimLeft(line, " ")
	f := &fence{char: text[0], indent: len(line) - len(text)}
	info := bytes.TrimLeft(text, string(text[:1]))
	f.length = len(text) - len(info)
	f.code = language(string(bytes.TrimSpace(info)), opt)
	return f
}

// language returns the highlighter for the info string of a fence.
func language(info string, opt Options) *highlight.Lines {
	name, _, _ := strings.Cut(info, " ")
	name, _, _ = strings.Cut(strings.Trim(name, "{.}"), ",")
	if opt.NoColor {
		name = ""
	}
	return highlight.ForLanguage(name)
}

// ends reports whether line closes the block.
func (f *fence) ends(line []byte) bool {
	text := bytes.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return false
	}
	rest := bytes.TrimLeft(text, string(f.char))
	return len(text)-len(rest) >= f.length && len(bytes.TrimSpace(rest)) == 0
}

// closedFence reports whether src begins with a closed fenced code block.
func closedFence(src []byte) bool {
	lines := bytes.SplitAfter(src, []byte("\n"))
	f := openFence(lines[0], Options{NoColor: true})
	for _, line := range lines[1:] {
		if f.ends(line) {
			return true
		}
	}
	return false
}

// render returns the terminal lines of one line of code.
func (f *fence) render(line []byte, opt Options) []string {
	lines := codeLines(f.code.Line, f.dedent(line), paint.Indent{}, opt)
	f.wide = f.wide || len(lines) > 1
	return lines
}

// wrapped returns the remark below a code block with wrapped lines.
func wrapped(ind paint.Indent, opt Options) []string {
	if opt.Wrapped == "" {
		return nil
	}
	spans := append(slices.Clone(ind.Rest), paint.Span{Text: codeIndent}, paint.Span{Text: "↩ " + opt.Wrapped, Style: theme.Dim})
	return []string{paint.Line(opt.NoColor, paint.Truncate(spans, opt.Width)...)}
}

// peek returns the terminal lines of an incomplete line of code.
func (f *fence) peek(line []byte, gap bool, opt Options) []string {
	if len(bytes.TrimLeft(bytes.TrimLeft(line, " "), string(f.char))) == 0 {
		return nil // nothing yet, or the beginning of the closing fence
	}
	if len(line) > maxTail {
		line = line[len(line)-maxTail:]
	}
	lines := codeLines(f.code.Peek, f.dedent(line), paint.Indent{}, opt)
	if gap {
		return append([]string{""}, lines...)
	}
	return lines
}

// dedent strips the indent of the fence from a line.
func (f *fence) dedent(line []byte) string {
	text := strings.TrimSuffix(string(line), "\n")
	for col := range f.indent {
		if strings.HasPrefix(text, "\t") {
			text = strings.Repeat(" ", paint.TabStop-col) + text[1:]
		}
		if !strings.HasPrefix(text, " ") {
			break
		}
		text = text[1:]
	}
	return text
}

// codeLines renders one line of code, cut at the terminal's width.
func codeLines(color func(string) []paint.Span, line string, ind paint.Indent, opt Options) []string {
	room := max(opt.Width-paint.WidthOf(ind.Rest)-len(codeIndent), 1)
	rows := paint.Chop(color(paint.ExpandTabs(line)), room)
	lines := make([]string, len(rows))
	before := ind.First
	for i, row := range rows {
		spans := append(append([]paint.Span(nil), before...), paint.Span{Text: codeIndent})
		lines[i] = paint.Line(opt.NoColor, append(spans, row...)...)
		before = ind.Rest
	}
	return lines
}
