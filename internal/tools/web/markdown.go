package web

import (
	"context"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// Bounds of the Markdown of a page.
const (
	maxSpan    = 100     // of a cell
	maxColumns = 1000    // of a table
	maxCells   = 200_000 // of all tables
	maxNesting = 20      // of quotes and lists
	maxIndents = 1 << 20 // of lines in quotes and lists, each once for each of them
)

// markdown converts the HTML of the page at u. It returns when ctx ends. A model does not need
// Markdown's escapes, whose cost grows with the square of the text, and no aligned columns.
func markdown(ctx context.Context, text string, u *url.URL) (string, error) {
	type result struct {
		text string
		err  error
	}
	got := make(chan result, 1)
	go func() { // it may outlast ctx, but its work is bounded
		defer crash.Guard()
		text, err := convert(ctx, text, u)
		got <- result{text, err}
	}()
	select {
	case r := <-got:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func convert(ctx context.Context, text string, u *url.URL) (string, error) {
	doc, err := html.Parse(reader{ctx, strings.NewReader(text)})
	if err != nil {
		return "", err
	}
	new(bounds).node(doc, 0)
	c := converter.NewConverter(
		converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))),
		converter.WithEscapeMode(converter.EscapeModeDisabled),
	)
	c.Register.Renderer(func(converter.Context, converter.Writer, *html.Node) converter.RenderStatus {
		if ctx.Err() != nil {
			return converter.RenderSuccess // without its text: nobody waits for it
		}
		return converter.RenderTryNext
	}, converter.PriorityEarly)
	out, err := c.ConvertNode(doc, converter.WithContext(ctx), converter.WithDomain(u.Scheme+"://"+u.Host))
	return string(out), errors.Join(err, ctx.Err())
}

// reader fails when its context has ended.
type reader struct {
	ctx context.Context //nolint:containedctx // of one call of convert
	io.Reader
}

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// bounds changes a page so that its Markdown is not much larger than the page. It counts what
// was granted so far.
type bounds struct{ cells, indents int }

// node bounds the nodes below n, which is in depth quotes and lists. It returns how many lines
// they take at the most.
func (b *bounds) node(n *html.Node, depth int) (lines int) {
	quote := n.Type == html.ElementNode && slices.Contains([]string{"blockquote", "ul", "ol"}, n.Data)
	if quote {
		depth++
	}
	tidy(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		lines += 1 + strings.Count(c.Data, "\n") + b.node(c, depth)
	}
	switch {
	case quote && (depth > maxNesting || b.indents+lines > maxIndents):
		n.Data = "div"
	case quote:
		b.indents += lines
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "start" && len(a.Val) > 4 })
	case n.Type == html.ElementNode && n.Data == "table":
		b.table(n)
	}
	return lines
}

// tidy removes the children of n that have no text for a model, and joins the texts beside them
// in one step: the converter takes one step for each.
func tidy(n *html.Node) {
	var text []string
	var first *html.Node
	join := func() {
		if len(text) > 1 {
			first.Data = strings.Join(text, "")
		}
		text, first = nil, nil
	}
	var next *html.Node
	for c := n.FirstChild; c != nil; c = next {
		next = c.NextSibling
		switch {
		case c.Type == html.CommentNode || c.Type == html.ElementNode && slices.Contains([]string{"script", "style", "link", "meta", "iframe", "noscript", "input", "textarea"}, c.Data):
			n.RemoveChild(c)
		case c.Type != html.TextNode:
			join()
		case first == nil:
			first, text = c, append(text, c.Data)
		default:
			text = append(text, c.Data)
			n.RemoveChild(c)
		}
	}
	join()
}

// table bounds the spans of a table, or leaves its text only if it is too large all the same.
func (b *bounds) table(n *html.Node) {
	widths := rows(n)
	columns := slices.Max(widths)
	if columns > maxColumns || b.cells+columns*len(widths) > maxCells {
		n.Data = "div"
		return
	}
	b.cells += columns * len(widths)
}

// rows returns the width of each row of a table, in cells, with one for the header. A table in
// a cell ends it: then the converter draws no cells.
func rows(n *html.Node) []int {
	widths, row := []int{0}, 0
	for c := range n.Descendants() {
		switch {
		case c.Type != html.ElementNode:
		case c.Data == "table":
			return widths
		case c.Data == "tr":
			row++
			widths = append(widths, make([]int, max(0, row+1-len(widths)))...)
		case c.Data == "td" || c.Data == "th":
			columns, height := span(c, "colspan"), span(c, "rowspan")
			widths = append(widths, make([]int, max(0, row+height-len(widths)))...)
			for i := range height {
				widths[row+i] += columns
			}
		}
	}
	return widths
}

// span bounds an attribute of a cell, and returns it.
func span(n *html.Node, name string) int {
	for i, a := range n.Attr {
		if a.Key != name {
			continue
		}
		value, err := strconv.Atoi(a.Val)
		switch {
		case err != nil || value < 1:
			return 1
		case value > maxSpan:
			n.Attr[i].Val = strconv.Itoa(maxSpan)
			return maxSpan
		}
		return value
	}
	return 1
}
