package markdown

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"charm.land/glamour/v2/ansi"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Page renders a whole text with Glamour. A block whose words Glamour would change (see
// docs/adr/0014) is rendered like that of an answer.
func Page(text string, opt Options) []string {
	var lines []string
	for _, block := range blocks(sanitize.Text(strings.ReplaceAll(text, "\r\n", "\n"))) {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		rows, ok := pageBlock(block, opt)
		if !ok {
			lines = append(lines, Render(block, opt)...)
			continue
		}
		for _, row := range rows {
			for _, part := range paint.Chop(row, max(1, opt.Width)) {
				lines = append(lines, strings.TrimRight(paint.Line(opt.NoColor, part...), " "))
			}
		}
	}
	return lines
}

// Whole is like Page. ok is false if the page lacks a word of the text, such as the language of a
// code block.
func Whole(text string, opt Options) (lines []string, ok bool) {
	lines = Page(text, opt)
	return lines, maps.Equal(wordsOf(paint.Parse(strings.Join(lines, "\n"))), wordsOf(paint.Parse(sanitize.Text(text))))
}

// blocks splits a text into its blocks, each of whole lines.
func blocks(text string) (all []string) {
	root, src := parse([]byte(text))
	begin := 0
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		end := len(src)
		if next := n.NextSibling(); next != nil {
			end = bytes.LastIndexByte(src[:next.Pos()], '\n') + 1
		}
		if end > begin {
			all = append(all, string(src[begin:end]))
			begin = end
		}
	}
	return all
}

// unlimited is a width at which no line is broken.
const unlimited = 1 << 16

// pageBlock renders a block with Glamour. ok is false if that changes a word.
func pageBlock(block string, opt Options) (rows [][]paint.Span, ok bool) {
	rows, err := glamourBlock(block, opt)
	return rows, err == nil && maps.Equal(wordsOf(rows), wordsOf(paint.Parse(strings.Join(Render(block, Options{Width: unlimited, NoColor: true}), "\n"))))
}

// hanging is the room that Glamour leaves for the indent of an item's further lines.
const hanging = 3

func glamourBlock(text string, opt Options) ([][]paint.Span, error) {
	var stand standIns
	root, src := parse([]byte(stand.glue(stand.put(text))))
	if err := flow(root, src); err != nil {
		return nil, err
	}
	md := renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(ansi.NewRenderer(ansi.Options{
		WordWrap: max(10, opt.Width-hanging), InlineTableLinks: true, Styles: pageStyles(opt),
	}), 1)))
	var b bytes.Buffer
	if err := md.Render(&b, src, root); err != nil {
		return nil, err
	}
	var rows [][]paint.Span
	indent := 0
	for _, row := range paint.Parse(stand.restore(b.String())) {
		for i := range row {
			row[i].Text = sanitize.Line(row[i].Text)
		}
		blank := isBlankRow(row)
		if blank && (len(rows) == 0 || isBlankRow(rows[len(rows)-1])) {
			continue
		}
		if row, indent = hang(row, indent); blank {
			row = nil
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 && isBlankRow(rows[len(rows)-1]) {
		rows = rows[:len(rows)-1]
	}
	return rows, nil
}

// flow replaces the line breaks inside of the paragraphs of src by blanks: Glamour keeps them in
// lists.
func flow(root ast.Node, src []byte) error {
	return ast.Walk(root, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && enter && t.SoftLineBreak() && t.Segment.Stop < len(src) && src[t.Segment.Stop] == '\n' {
			src[t.Segment.Stop] = ' '
			t.Segment = t.Segment.WithStop(t.Segment.Stop + 1)
			t.SetSoftLineBreak(false)
		}
		return ast.WalkContinue, nil
	})
}

// hang styles the mark of an item, or indents a row below the first row of an item. It returns the
// indent of the next row.
func hang(row []paint.Span, indent int) ([]paint.Span, int) {
	first := slices.IndexFunc(row, func(s paint.Span) bool { return strings.Trim(s.Text, " ") != "" })
	if first < 0 {
		return row, 0
	}
	span := row[first]
	text := strings.TrimLeft(span.Text, " ")
	mark, _, found := strings.Cut(text, " ")
	if digits := strings.TrimSuffix(mark, "."); found && (mark == bullet || mark != digits && isNumber(digits)) {
		at := len(span.Text) - len(text) + len(mark) + 1
		return slices.Concat(row[:first], []paint.Span{{Text: span.Text[:at], Style: theme.ListMark}, {Text: span.Text[at:], Style: span.Style}}, row[first+1:]), min(cells.Width(mark)+1, hanging)
	}
	if indent > 0 {
		row = append([]paint.Span{{Text: strings.Repeat(" ", indent)}}, row...)
	}
	return row, indent
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// bullet begins an item of a list.
const bullet = "•"

// pageStyles are the styles of the program, for Glamour.
func pageStyles(opt Options) ansi.StyleConfig {
	st, yes := tableStyles(opt), true
	st.Item.BlockPrefix, st.Enumeration.BlockPrefix = bullet+" ", ". "
	st.Task.Ticked, st.Task.Unticked = checkBox(true), checkBox(false)
	st.List.LevelIndent = 2
	one, margin, quote := uint(1), uint(len(codeIndent)), "│ "
	st.BlockQuote.Indent, st.BlockQuote.IndentToken = &one, &quote
	st.CodeBlock.Margin = &margin
	st.HorizontalRule.Format = "\n────\n"
	st.Link.BlockPrefix, st.Link.BlockSuffix = "(", ")"
	st.Heading.BlockSuffix = "\n"
	for i, h := range []*ansi.StyleBlock{&st.H1, &st.H2, &st.H3, &st.H4, &st.H5, &st.H6} {
		h.Prefix = strings.Repeat("#", i+1) + " "
	}
	if opt.NoColor {
		return st
	}
	head := strconv.Itoa(int(theme.Heading.FG.Slot()))
	st.Heading.Bold, st.H1.Color, st.H2.Color, st.CodeBlock.Color = &yes, &head, &head, st.Code.Color
	return st
}

// glue returns s with stand-ins for the punctuation inside of words, at which Glamour would break
// lines: accept-edits, config.yaml, --trust.
func (t *standIns) glue(s string) string {
	const marks = "-+.,;"
	first := firstStandIn + rune(len(t.texts))
	for _, m := range marks {
		t.texts = append(t.texts, string(m))
	}
	return regexp.MustCompile(`[-+.,;]+\w`).ReplaceAllStringFunc(s, func(found string) string {
		return strings.Map(func(r rune) rune {
			if i := strings.IndexRune(marks, r); i >= 0 {
				return first + rune(i)
			}
			return r
		}, found)
	})
}

// wordsOf counts the words of rows, without marks.
func wordsOf(rows [][]paint.Span) map[string]int {
	all := map[string]int{}
	for _, row := range rows {
		var line strings.Builder
		for _, s := range row {
			line.WriteString(s.Text)
		}
		for _, w := range strings.FieldsFunc(line.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			all[w]++
		}
	}
	return all
}
