package markdown

import (
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

var kindTable = extast.KindTable

// newParser returns a parser for CommonMark with tables, task lists, strikethrough and bare
// links, without HTML and reference links.
var newParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
})

func parse(src []byte) (ast.Node, []byte) {
	return newParser().Parse(text.NewReader(src)), src
}

// typesetter renders blocks as lines.
type typesetter struct {
	opt Options
	src []byte
}

// listState is the state of a list whose first items are printed.
type listState struct {
	next int  // number of the next item
	gap  bool // a blank line precedes the next item
}

// top renders a top-level block; a non-nil list continues one printed in part.
func (r *typesetter) top(n ast.Node, list *listState) []string {
	if l, ok := n.(*ast.List); ok {
		lines, _ := r.items(l, list, nil, paint.Indent{})
		return lines
	}
	return r.block(n, paint.Indent{})
}

func (r *typesetter) block(n ast.Node, ind paint.Indent) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return r.heading(n, ind)
	case *ast.List:
		lines, _ := r.items(n, nil, nil, ind)
		return lines
	case *ast.Blockquote:
		bar := paint.Span{Text: "│ ", Style: theme.QuoteBar}
		return r.children(n, nest(ind, bar, bar, r.opt.Width))
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = string(n.Info.Segment.Value(r.src))
		}
		return r.code(n, info, ind)
	case *ast.CodeBlock:
		return r.code(n, "", ind)
	case *ast.ThematicBreak:
		rule := strings.Repeat("─", max(min(r.opt.Width-paint.WidthOf(ind.First), 40), 1))
		return []string{paint.Line(r.opt.NoColor, append(clone(ind.First), paint.Span{Text: rule, Style: theme.Dim})...)}
	case *extast.Table:
		return r.table(n, ind)
	}
	f := r.flow(ind)
	r.inlines(f, n, paint.Style{})
	return f.Lines()
}

func (r *typesetter) flow(ind paint.Indent) *paint.Flow {
	return paint.NewFlow(r.opt.Width, r.opt.NoColor, ind)
}

func (r *typesetter) heading(n *ast.Heading, ind paint.Indent) []string {
	style := theme.Heading
	if n.Level > 2 {
		style = theme.Subheading
	}
	f := r.flow(ind)
	f.Text(strings.Repeat("#", n.Level)+" ", style)
	r.inlines(f, n, style)
	return f.Lines()
}

func (r *typesetter) code(n ast.Node, info string, ind paint.Indent) []string {
	code, wide := language(info, r.opt), false
	var lines []string
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		line := strings.TrimSuffix(string(seg.Value(r.src)), "\n")
		rows := codeLines(code.Line, line, ind, r.opt)
		lines, wide = append(lines, rows...), wide || len(rows) > 1
		ind.First = ind.Rest
	}
	if wide && n.Kind() == ast.KindFencedCodeBlock {
		lines = append(lines, wrapped(ind, r.opt)...)
	}
	return lines
}

// children renders the blocks in n, separated by blank lines.
func (r *typesetter) children(n ast.Node, ind paint.Indent) []string {
	var lines []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		part := r.block(c, ind)
		if len(part) == 0 {
			continue
		}
		if len(lines) > 0 && separated(c) {
			lines = append(lines, paint.Line(r.opt.NoColor, ind.Rest...))
		}
		lines = append(lines, part...)
		ind.First = ind.Rest
	}
	if len(lines) == 0 {
		lines = append(lines, paint.Line(r.opt.NoColor, ind.First...))
	}
	return lines
}

// separated reports whether a blank line separates n from the block before it.
func separated(n ast.Node) bool {
	return n.Kind() != ast.KindList || n.Parent().Kind() != ast.KindListItem
}

// items renders the items of a list up to but excluding until; before is the state left by
// earlier items.
func (r *typesetter) items(list *ast.List, before *listState, until ast.Node, ind paint.Indent) ([]string, listState) {
	c := listState{next: list.Start}
	if before != nil {
		c = *before
	}
	var lines []string
	for n := list.FirstChild(); n != until && n != nil; n = n.NextSibling() {
		if c.gap {
			lines = append(lines, paint.Line(r.opt.NoColor, ind.Rest...))
		}
		lines = append(lines, r.item(list, n, c.next, ind)...)
		ind.First = ind.Rest
		c.next++
		c.gap = hasBlankLine(n)
	}
	return lines, c
}

// hasBlankLine reports whether an item contains a blank line, which then also follows it.
func hasBlankLine(item ast.Node) bool {
	for c := item.FirstChild(); c != nil; c = c.NextSibling() {
		if c != item.FirstChild() && separated(c) {
			return true
		}
	}
	return false
}

func (r *typesetter) item(list *ast.List, n ast.Node, number int, ind paint.Indent) []string {
	mark := "• "
	if r.opt.NoColor {
		mark = "- "
	}
	if list.IsOrdered() {
		mark = strconv.Itoa(number) + string(list.Marker) + " "
	}
	blank := paint.Span{Text: strings.Repeat(" ", cells.Width(mark))}
	return r.children(n, nest(ind, paint.Span{Text: mark, Style: theme.ListMark}, blank, r.opt.Width))
}

// nest extends an indent, unless it already takes half of the columns.
func nest(ind paint.Indent, first, rest paint.Span, columns int) paint.Indent {
	if paint.WidthOf(ind.Rest)+cells.Width(rest.Text) > columns/2 {
		return ind
	}
	return paint.Indent{First: append(clone(ind.First), first), Rest: append(clone(ind.Rest), rest)}
}

func clone(spans []paint.Span) []paint.Span {
	return append([]paint.Span(nil), spans...)
}
