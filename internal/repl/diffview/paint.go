package diffview

import (
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/highlight"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// painter draws the rows of one file.
type painter struct {
	opt      Options
	hunks    *Hunks // nil for a committed change
	old, new *tracker
	showCR   bool // show carriage returns of changed lines
	numbers  int  // width of a line number
	both     bool // show old and new line numbers
	room     int  // columns for the text
	side     int  // columns of each side, or 0 if not side by side

	tall map[cut][][]paint.Span // the text of rows of many terminal lines
}

// cut is a side of a row.
type cut struct {
	row    int
	before bool
}

// tallRow is the number of terminal lines from which a row is cut once and kept.
const tallRow = 100

func newPainter(name string, o Options, a, b source) *painter {
	p := &painter{opt: o}
	if !o.NoColor {
		lines := highlight.ForFile(name)
		p.old, p.new = &tracker{src: a, lines: lines}, &tracker{src: b, lines: lines.Fresh()}
	}
	return p
}

// fit divides the width between line numbers and text.
func (p *painter) fit(o Options, rows []row) {
	p.opt, p.tall = o, nil
	last := 0
	for i := len(rows) - 1; i >= 0 && last == 0; i-- {
		last = max(rows[i].a, rows[i].b)
	}
	p.numbers = max(len(strconv.Itoa(last)), 2)
	if p.side = 0; o.split() {
		p.both, p.side = false, (o.Width-cells.Width(between))/2
		p.room = max(p.side-p.gutter(), 1)
		return
	}
	p.both = o.Width >= 60
	p.room = max(o.Width-p.gutter(), 1)
	if o.Width < p.gutter()*2 {
		p.numbers = 0
		p.room = max(o.Width-p.gutter(), 1)
	}
}

// gutter returns the width of the line numbers and the sign.
func (p *painter) gutter() int {
	switch {
	case p.numbers == 0:
		return 2
	case p.both:
		return 2*p.numbers + 4
	}
	return p.numbers + 3
}

// height returns the height of a row in terminal lines.
func (p *painter) height(r *row) int {
	if r.remark != "" {
		return 1
	}
	if cols, ok := asciiColumns(r.text); ok {
		if p.hasCR(r) {
			cols++
		}
		return max(1, (cols+p.room-1)/p.room)
	}
	return len(paint.Chop(p.plain(r), p.room))
}

// asciiColumns returns the width of s; false if it contains anything but printable ASCII and
// tabs.
func asciiColumns(s string) (int, bool) {
	cols := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\t':
			cols += paint.TabStop - cols%paint.TabStop
		case c >= 0x20 && c < 0x7f:
			cols++
		default:
			return 0, false
		}
	}
	return cols, true
}

func (p *painter) hasCR(r *row) bool {
	return r.cr && p.showCR && r.op != diff.Equal
}

func (p *painter) plain(r *row) []paint.Span {
	spans := []paint.Span{{Text: paint.ExpandTabs(sanitize.Exact(r.text))}}
	if p.hasCR(r) {
		spans = append(spans, paint.Span{Text: "␍", Style: theme.Dim})
	}
	return spans
}

// paint returns the terminal lines of rows[i] from one to before another.
func (p *painter) paint(rows []row, i, from, to int) []string {
	r := &rows[i]
	if r.remark != "" {
		return []string{paint.Line(p.opt.NoColor, p.remark(r, p.opt.Width)...)}
	}
	lines := make([]string, to-from)
	for n, part := range p.parts(rows, i, false, from, to) {
		lines[n] = p.line(p.tinted(r, part, p.opt.Width))
	}
	return lines
}

// line joins spans into a terminal line.
func (p *painter) line(spans []paint.Span) string {
	if n := len(spans); p.opt.Tint && n > 0 && spans[n-1].Style.BG != 0 {
		return paint.Tinted(spans...)
	}
	return paint.Line(p.opt.NoColor, spans...)
}

// tinted gives the line of a changed row its background, width columns wide.
func (p *painter) tinted(r *row, line []paint.Span, width int) []paint.Span {
	tint := styleTint[r.op]
	if !p.opt.Tint || tint == (paint.Style{}) || p.hunks.left(r) {
		return line
	}
	for i := range line {
		line[i].Style = line[i].Style.Over(tint)
	}
	return append(line, paint.Span{Text: strings.Repeat(" ", max(0, width-paint.WidthOf(line))), Style: tint})
}

// remark renders a row that is not a line of the file, in at most width columns.
func (p *painter) remark(r *row, width int) []paint.Span {
	text := strings.Repeat(" ", p.gutter()) + r.remark
	if r.remark == noNewline {
		text = strings.Repeat(" ", p.gutter()-2) + "\\ " + r.remark
	}
	return paint.Truncate([]paint.Span{{Text: text, Style: theme.Dim}}, width)
}

// parts returns the terminal lines of rows[i] from one to before another, as far as there are;
// before selects the side of the old text.
func (p *painter) parts(rows []row, i int, before bool, from, to int) [][]paint.Span {
	texts := p.texts(rows, i, before)
	var parts [][]paint.Span
	for n := from; n < min(to, len(texts)); n++ {
		parts = append(parts, append(p.margin(&rows[i], n > 0, before), texts[n]...))
	}
	return parts
}

// texts returns the text of rows[i], cut into terminal lines.
func (p *painter) texts(rows []row, i int, before bool) [][]paint.Span {
	of := cut{i, before}
	if texts, ok := p.tall[of]; ok {
		return texts
	}
	r := &rows[i]
	texts := paint.Chop(p.spans(rows, i, before), p.room)
	if len(texts) != p.height(r) { // a character on the border of two colors is narrower
		texts = paint.Chop(p.plain(r), p.room)
	}
	if len(texts) >= tallRow {
		if p.tall == nil {
			p.tall = map[cut][][]paint.Span{}
		}
		p.tall[of] = texts
	}
	return texts
}

// margin returns the line numbers and the sign; a continuation line has only the sign.
func (p *painter) margin(r *row, continued, before bool) []paint.Span {
	sign, style := " ", theme.Dim
	switch r.op {
	case diff.Insert:
		sign, style = "+", theme.Good
	case diff.Delete:
		sign, style = "-", theme.Bad
	}
	if p.hunks.left(r) { // a line that stays, or that is not added
		sign, style = map[diff.Op]string{diff.Insert: oneCell("×", "x"), diff.Delete: " "}[r.op], theme.Dim
	}
	after := paint.Span{Text: " "}
	if p.hunks.marked(r) {
		after = paint.Span{Text: oneCell("▌", "|"), Style: theme.Accent}
	}
	var numbers string
	switch {
	case p.numbers == 0:
	case p.both:
		numbers = p.number(r.a, continued) + " " + p.number(r.b, continued) + " "
	case r.b != 0 && !before:
		numbers = p.number(r.b, continued) + " "
	default:
		numbers = p.number(r.a, continued) + " "
	}
	return []paint.Span{{Text: numbers, Style: theme.Dim}, {Text: sign, Style: style}, after}
}

// oneCell returns a mark of one cell: instead, if the terminal draws mark in two.
func oneCell(mark, instead string) string {
	if cells.Width(mark) > 1 {
		return instead
	}
	return mark
}

func (p *painter) number(n int, continued bool) string {
	s := ""
	if n > 0 && !continued {
		s = strconv.Itoa(n)
	}
	return strings.Repeat(" ", max(p.numbers-len(s), 0)) + s
}

// spans returns the text of rows[i] in color, with changed words marked and relevant white
// space visible.
func (p *painter) spans(rows []row, i int, before bool) []paint.Span {
	r := &rows[i]
	text := sanitize.Exact(r.text)
	if r.op == diff.Insert && p.hunks.left(r) {
		gone := p.plain(r)
		gone[0].Style = theme.LeftOut
		return gone
	}
	spans := p.colors(r, text, before)
	var show []diff.Span
	if r.op != diff.Equal && !p.hunks.left(r) {
		changed := marks(rows, i)
		spans = emphasize(spans, changed, styleChanged[r.op])
		show = tellingBlanks(text, changed, r.op)
	}
	spans = expand(emphasize(spans, revealed(r.text, text), theme.Revealed), show)
	if p.hasCR(r) {
		spans = append(spans, paint.Span{Text: "␍", Style: theme.Dim})
	}
	return spans
}

func (p *painter) colors(r *row, text string, before bool) []paint.Span {
	switch {
	case p.opt.NoColor:
		return []paint.Span{{Text: text}}
	case r.op == diff.Delete || before:
		return p.old.line(r.a, text)
	}
	return p.new.line(r.b, text)
}
