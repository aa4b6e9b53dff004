package markdown

import (
	"bytes"
	"strings"
	"testing"

	"charm.land/glamour/v2/ansi"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// byGlamour renders every block of a text with Glamour, as the alternative in docs/adr/0014.
func byGlamour(text string, opt Options) []string {
	indent, margin, quote := uint(1), uint(len(codeIndent)), "│ "
	styles := tableStyles(opt)
	styles.Item.BlockPrefix, styles.Enumeration.BlockPrefix = "• ", ". "
	styles.Task.Ticked, styles.Task.Unticked = checkBox(true), checkBox(false)
	styles.List.LevelIndent = 2
	styles.BlockQuote.Indent, styles.BlockQuote.IndentToken = &indent, &quote
	styles.CodeBlock.Margin = &margin
	styles.Link.BlockPrefix, styles.Link.BlockSuffix = "(", ")"
	doc, src := parse([]byte(sanitize.Text(text)))
	var blocks []ast.Node
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		blocks = append(blocks, n)
	}
	var lines []string
	for _, n := range blocks {
		root := ast.NewDocument()
		root.AppendChild(root, n)
		md := renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(ansi.NewRenderer(ansi.Options{
			WordWrap: opt.Width, InlineTableLinks: true, Styles: styles,
		}), 1)))
		var b bytes.Buffer
		if err := md.Render(&b, src, root); err != nil {
			return []string{err.Error()}
		}
		for _, row := range paint.Parse(strings.Trim(b.String(), "\n")) {
			for i := range row {
				row[i].Text = sanitize.Line(row[i].Text)
			}
			if line := paint.Line(opt.NoColor, row...); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// The reasons in docs/adr/0014: if this fails, Glamour has got better, and the decision is due
// again.
func TestGlamourChangesTheText(t *testing.T) {
	for _, c := range []struct{ name, text, glamour, ours string }{
		{"paragraphs of an item run together", "- first\n\n  second\n", "• firstsecond", "• first||  second"},
		{"code is decoded", "`a &amp; b`\n", "a & b", "a &amp; b"},
		{"a URL is broken", "- see https://ex.org/page/of\n", "• see (https://ex.|org/page/of)", "• see|  https://ex.org/page/of"},
		{"an item has no hanging indent", "- words and more words\n", "• words and more|words", "• words and more|  words"},
		{"an escape stays", "1\\~2\n", `1\~2`, "1~2"},
	} {
		opt := Options{Width: 27}
		if c.name == "an item has no hanging indent" {
			opt.Width = 17
		}
		show := func(lines []string) string { return plainText(strings.Join(lines, "|")) }
		if got := show(byGlamour(c.text, opt)); got != c.glamour {
			t.Errorf("%s: Glamour %q, want %q", c.name, got, c.glamour)
		}
		if got := show(Render(c.text, opt)); got != c.ours {
			t.Errorf("%s: we %q, want %q", c.name, got, c.ours)
		}
	}
}

func plainText(line string) string {
	var b strings.Builder
	for _, row := range paint.Parse(line) {
		for _, s := range row {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func benchmarkWhole(b *testing.B, text string, render func(string, Options) []string) {
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	n := 0
	for b.Loop() {
		n = 0
		for _, l := range render(text, Options{Width: 120}) {
			n += len(l) + 2
		}
	}
	b.ReportMetric(float64(n)/1024, "KiB-out")
}

func BenchmarkMixedByGlamour(b *testing.B) { benchmarkWhole(b, mixed(100_000), byGlamour) }
func BenchmarkMixedByUs(b *testing.B)      { benchmarkWhole(b, mixed(100_000), Render) }
func BenchmarkWordsByGlamour(b *testing.B) { benchmarkWhole(b, words(100_000), byGlamour) }
func BenchmarkWordsByUs(b *testing.B)      { benchmarkWhole(b, words(100_000), Render) }
