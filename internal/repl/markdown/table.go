package markdown

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"charm.land/glamour/v2/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// table draws a table with Glamour, or row by row if the terminal is too narrow to show all
// of it.
func (r *typesetter) table(n *extast.Table, ind paint.Indent) []string {
	texts := sources(n, r.src)
	room := r.opt.Width - paint.WidthOf(ind.Rest)
	rows, ok := drawTable(n, texts, room, r.opt)
	if !ok {
		return r.rows(n, ind)
	}
	lines := make([]string, len(rows))
	before := ind.First
	for i, row := range rows {
		lines[i] = paint.Line(r.opt.NoColor, append(clone(before), row...)...)
		before = ind.Rest
	}
	return lines
}

// sources returns the source of a table's cells by row, header first.
func sources(n *extast.Table, src []byte) [][]string {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var texts []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			texts = append(texts, string(cell.Lines().Value(src)))
		}
		rows = append(rows, texts)
	}
	return rows
}

// drawTable draws a table at most room columns wide; it returns false if the table does not
// fit.
func drawTable(n *extast.Table, texts [][]string, room int, opt Options) ([][]paint.Span, bool) {
	const cellPadding = 3
	natural, columns := 0, len(n.Alignments)
	for col := range columns {
		widest := 1
		for _, row := range texts {
			if col < len(row) {
				widest = max(widest, cells.Width(row[col]))
			}
		}
		natural += widest + cellPadding
	}
	if room < columns*8 {
		return nil, false
	}
	var stand standIns
	text, err := glamourTable([]byte(stand.put(string(tableSource(n, texts)))), min(natural, room), opt)
	if err != nil {
		return nil, false
	}
	rows := paint.Parse(stand.restore(text))
	rows = slices.DeleteFunc(rows, isBlankRow)
	for _, row := range rows {
		for i := range row {
			row[i].Text = sanitize.Line(row[i].Text)
		}
		if paint.WidthOf(row) > room {
			return nil, false
		}
	}
	return rows, letters(rows) >= lettersOf(texts)
}

func isBlankRow(row []paint.Span) bool {
	return !slices.ContainsFunc(row, func(s paint.Span) bool { return strings.Trim(s.Text, " ") != "" })
}

// tableSource writes a table as Markdown. It escapes character references, because Glamour
// would resolve them after sanitizing.
func tableSource(n *extast.Table, texts [][]string) []byte {
	var b bytes.Buffer
	for i, row := range texts {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "&", "&amp;") + " ")
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for _, a := range n.Alignments {
			b.WriteString(delimiters[a])
		}
		b.WriteString("|\n")
	}
	return b.Bytes()
}

var delimiters = map[extast.Alignment]string{
	extast.AlignLeft: "|:---", extast.AlignRight: "|---:", extast.AlignCenter: "|:---:", extast.AlignNone: "|---",
}

func glamourTable(src []byte, columns int, opt Options) (string, error) {
	root, _ := parse(src)
	md := renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(ansi.NewRenderer(ansi.Options{
		WordWrap: columns, InlineTableLinks: true, Styles: tableStyles(opt),
	}), 1)))
	var b bytes.Buffer
	err := md.Render(&b, src, root)
	return b.String(), err
}

func tableStyles(opt Options) ansi.StyleConfig {
	if opt.NoColor {
		return ansi.StyleConfig{
			Strong:        ansi.StylePrimitive{BlockPrefix: "**", BlockSuffix: "**"},
			Emph:          ansi.StylePrimitive{BlockPrefix: "*", BlockSuffix: "*"},
			Strikethrough: ansi.StylePrimitive{BlockPrefix: "~~", BlockSuffix: "~~"},
			Code:          ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Prefix: "`", Suffix: "`"}},
		}
	}
	yes, code := true, strconv.Itoa(int(theme.Code.FG.Slot()))
	return ansi.StyleConfig{
		Strong:        ansi.StylePrimitive{Bold: &yes},
		Emph:          ansi.StylePrimitive{Italic: &yes},
		Strikethrough: ansi.StylePrimitive{CrossedOut: &yes},
		LinkText:      ansi.StylePrimitive{Underline: &yes},
		Code:          ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: &code}},
	}
}

// rows renders each row of a table as text, with bars between the cells.
func (r *typesetter) rows(n ast.Node, ind paint.Indent) []string {
	var lines []string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		f := r.flow(ind)
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			if cell != row.FirstChild() {
				f.Text(" | ", theme.Dim)
			}
			r.inlines(f, cell, paint.Style{})
		}
		lines = append(lines, f.Lines()...)
		ind.First = ind.Rest
	}
	return lines
}

// letters counts the letters and digits of rows.
func letters(rows [][]paint.Span) int {
	n := 0
	for _, row := range rows {
		for _, s := range row {
			n += countLetters(s.Text)
		}
	}
	return n
}

func lettersOf(texts [][]string) int {
	n := 0
	for _, row := range texts {
		for _, cell := range row {
			n += countLetters(cell)
		}
	}
	return n
}

func countLetters(s string) int {
	n := 0
	for _, c := range s {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			n++
		}
	}
	return n
}
