package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// lines renders text without colors and joins the lines with bars.
func lines(text string, width int) string {
	return strings.Join(Render(text, Options{Width: width, NoColor: true}), "|")
}

func TestInline(t *testing.T) {
	for _, tt := range []struct{ name, text, plain, color string }{
		{"emphasis", "a *b* **c** ***d***", "a *b* **c** ***d***", "a ␛[3mb ␛[0;1mc ␛[0;1;3md␛[m"},
		{"code", "`a  b`", "`a  b`", "␛[36ma  b␛[m"},
		{"code keeps marks", "`**a** &amp; \\*`", "`**a** &amp; \\*`", "␛[36m**a** &amp; \\*␛[m"},
		{"strike", "~~a~~", "~~a~~", "␛[9ma␛[m"},
		{"link", "[a](https://e.com/x \"title\")", "a (https://e.com/x)", "␛[4ma␛[m ␛[90m(https://e.com/x)␛[m"},
		{"link that says where", "[https://e.com](https://e.com)", "https://e.com", "␛[4mhttps://e.com␛[m"},
		{"link that lies", "[https://bank.example](https://evil.example)", "https://bank.example (https://evil.example)", "␛[4mhttps://bank.example␛[m ␛[90m(https://evil.example)␛[m"},
		{"link without text", "[](u)", "(u)", "␛[90m(u)␛[m"},
		{"link with a control", "[a](<u&#27;]0;t>)", "a (u&#27;]0;t)", "␛[4ma␛[m ␛[90m(u&#27;]0;t)␛[m"},
		{"other scheme", "[a](javascript:x)", "a (javascript:x)", "␛[4ma␛[m ␛[90m(javascript:x)␛[m"},
		{"image", "![alt](https://e.com/x.png)", "image: alt (https://e.com/x.png)", "␛[90mimage: ␛[0;4malt␛[m ␛[90m(https://e.com/x.png)␛[m"},
		{"bare address", "see https://e.com.", "see https://e.com.", "see ␛[4mhttps://e.com␛[m."},
		{"autolink", "<https://e.com> <a@b.c>", "https://e.com a@b.c", "␛[4mhttps://e.com␛[m ␛[4ma@b.c␛[m"},
		{"HTML", "List<String> <b>x</b>", "List<String> <b>x</b>", "List<String> <b>x</b>"},
		{"references", "&lt;a&gt; &copy; &#65; &#x42; &nosuch; & &;", "<a> © A B &nosuch; & &;", "<a> © A B &nosuch; & &;"},
		{"reference to a control", "&#27;[2J &#10; &#x202e;x", `\u{1b}[2J \n \u{202e}x`, `\u{1b}[2J \n \u{202e}x`},
		{"escapes", `\* \_ \a \\ \&amp;`, `* _ \a \ &amp;`, `* _ \a \ &amp;`},
		{"controls", "a\x1b[31mb\u202e", `a\u{1b}[31mb\u{202e}`, `a\u{1b}[31mb\u{202e}`},
		{"hard break", "a  \nb\\\nc", "a|b|c", "a|b|c"},
		{"soft break", "a\nb", "a b", "a b"},
		{"style over a break", "**a\nb**", "**a b**", "␛[1ma b␛[m"},
		{"open mark", "**a", "**a", "**a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.plain, lines(tt.text, 100)); d != "" {
				t.Error("plain:", d)
			}
			color := strings.Join(Render(tt.text, Options{Width: 100}), "|")
			if d := cmp.Diff(tt.color, strings.ReplaceAll(color, "\x1b", "␛")); d != "" {
				t.Error("color:", d)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blank", "\n\n \n", ""},
		{"paragraphs", "a\n\n\n\nb", "a||b"},
		{"headings", "# a\n###### b\nc\n===\n", "# a||###### b||# c"},
		{"rule", "a\n\n---\nb", "a||" + strings.Repeat("─", 20) + "||b"},
		{"list", "- a\n- b\n\n- c", "- a|- b|- c"},
		{"roomy list", "- a\n\n  b\n- c", "- a||  b||- c"},
		{"nested", "- a\n  - b\n    1. c\n- d", "- a|  - b|    1. c|- d"},
		{"two lists", "- a\n\n* b", "- a||- b"},
		{"numbers", "3. a\n3. b\n7. c", "3. a|4. b|5. c"},
		{"number marks", "1) a\n2) b", "1) a|2) b"},
		{"wide numbers wrap", "100. word word worded", "100. word word|     worded"},
		{"empty item", "-\n- b", "-|- b"},
		{"task", "- [ ] a\n- [x] b", "- [ ] a|- [x] b"},
		{"quote", "> a\nb\n>\n> c", "│ a b|│|│ c"},
		{"quote in a list", "- > a\n  > b", "- │ a b"},
		{"code in a list", "1. a\n   ```sh\n   ls\n   ```", "1. a||     ls"},
		{"list in a quote", "> - a\n> - b", "│ - a|│ - b"},
		{"indented code", "    a\n\n    b", "  a||  b"},
		{"long code is cut", "```\n0123456789012345678901234567\n```", "  012345678901234567|  8901234567"},
		{"tabs in code", "```\n\tx\ty\n```", "      x   y"},
		{"empty code", "a\n\n```\n```\nb", "a||b"},
		{"fence without end", "```\na", "  a"},
		{"longer fence", "````\n```\n````\nb", "  ```||b"},
		{"other fence", "~~~ go\n```\n~~~", "  ```"},
		{"indented fence", "  ```\n  a\n    b\n c\n  ```", "  a|    b|  c"},
		{"windows lines", "a\r\n\r\n- b\r\n", "a||- b"},
		{"definition", "[a]: https://e.com\n", "[a]: https://e.com"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, lines(tt.text, 20)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTables(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		width      int
		want       string
	}{
		{"aligned", "|a|bb|\n|:-|-:|\n|ccc|d|", 40, " a   │  bb|─────┼─────| ccc │   d"},
		{"text before", "text\n|a|\n|-|\n|b|\n\n", 40, "text|| a|────| b"},
		{"marks in a cell", "|`a`|\n|-|\n|**b** [c](//u)|", 40, " `a`|─────────────────| **b** c //u"},
		{"too narrow", "|a|b|c|\n|-|-|-|\n|d|e|f|", 20, "a | b | c|d | e | f"},
		{"missing cells", "|a|b|\n|-|-|\n|c|", 40, " a  │ b|────┼───| c  │"},
		{"in a list", "- x\n\n  |a|\n  |-|\n  |b|", 40, "- x||   a|  ────|   b"},
		{"reference", "|&#27;[31m|\n|-|\n|a&amp;b|", 40, " &#27;[31m|────────────| a&amp;b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, lines(tt.text, tt.width)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUnfinished(t *testing.T) {
	var s splitter
	for text, want := range map[string]bool{
		"text\n": true, "text\n\n": false, "# head\n": false, "text\n---\n": false, "***\n": false, "- a\n\n": true,
		"> q\n": true, "> q\n\n": false, "```\nx\n": true, "```\nx\n```\n": false, "    x\n\n": true,
		"a|b\n-|-\n": true, "a|b\n-|-\n\n": false,
	} {
		doc, src := parse([]byte(text))
		if got := s.unfinished(doc.LastChild(), src); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	// A table may still absorb the paragraph before it.
	doc, src := parse([]byte("text\na|b\n-|-\n"))
	if doc.FirstChild().Kind() != ast.KindParagraph || !s.unfinished(doc.FirstChild(), src) {
		t.Error("a paragraph is finished before the table that it ends in")
	}
}

func TestFenceEnds(t *testing.T) {
	f := openFence([]byte("  ````go\n"), Options{NoColor: true})
	for line, want := range map[string]bool{
		"````\n": true, "   `````  \n": true, "    ````\n": false, "```\n": false, "````x\n": false, "~~~~\n": false, "````": true,
	} {
		if got := f.ends([]byte(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	for line, want := range map[string]string{"  a\n": "a", " a\n": "a", "   a\n": " a", "\ta\n": "  a", "a": "a", "\n": ""} {
		if got := f.dedent([]byte(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// Blocks so large that not every line triggers a look for finished blocks.
func TestLargeBlocksAddUpToo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "blocks") {
			piece := rapid.SampledFrom([]string{
				"- item\n", "- item\n\n  more\n\n", "> quote\n", "line of a paragraph\n", "1. one\n", "    code\n\n", "| a | b |\n", "   - deep\n", "> > q\n\n",
			}).Draw(t, "piece")
			b.WriteString(strings.Repeat(piece, rapid.IntRange(1, 300).Draw(t, "n")))
			b.WriteString(rapid.SampledFrom([]string{"\n", "", "# h\n", "```\ncode\n```\n", "|---|---|\n"}).Draw(t, "between"))
		}
		text, opt := b.String(), Options{Width: 40, NoColor: true}
		s := New(opt)
		var got []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 2000)).Draw(t, "n")
			got = append(got, s.Push(rest[:n])...)
			rest = rest[n:]
			s.Tail(10)
		}
		got = append(got, s.Close()...)
		if d := cmp.Diff(whole(text, opt), got); d != "" {
			t.Fatalf("in one piece (-), in many (+):\n%s", d)
		}
	})
}

// The remark follows code with wrapped lines, however the text arrives.
func TestWrappedRemark(t *testing.T) {
	text := "```\nshort\n```\n\n```go\n" + strings.Repeat("x", 30) + "\n```\n\n- item\n\n  ```\n  " + strings.Repeat("y", 30) + "\n  ```\n"
	opt := Options{Width: 20, NoColor: true, Wrapped: "/copy"}
	lines := Render(text, opt)
	if n := strings.Count(strings.Join(lines, "\n"), "↩ /copy"); n != 2 {
		t.Errorf("%d remarks in\n%s", n, strings.Join(lines, "\n"))
	}
	s := New(opt)
	var pieces []string
	for i := range len(text) {
		pieces = append(pieces, s.Push(text[i:i+1])...)
	}
	if d := cmp.Diff(lines, append(pieces, s.Close()...)); d != "" {
		t.Error(d)
	}
	opt.Wrapped = ""
	if got := strings.Join(Render(text, opt), "\n"); strings.Contains(got, "↩") {
		t.Error(got)
	}
}

// The columns of a table are aligned by the count of cells that holds in all terminals, and no
// character is lost.
func TestTablesOfManyScripts(t *testing.T) {
	for _, text := range []string{"|ทำ|b|\n|-|-|\n|c|हि|", "|👍🏽|b|\n|-|-|\n|**👩‍👩‍👧** x|`❤️`|", "|漢字|é…|\n|-|-|\n|a|b|"} {
		rows := strings.Split(lines(text, 60), "|")
		column, _, _ := strings.Cut(rows[1], "┼")
		for _, row := range rows {
			if before, _, found := strings.Cut(row, "│"); found && cells.Width(before) != cells.Width(column) {
				t.Errorf("%q is %d wide, not %d:\n%s", before, cells.Width(before), cells.Width(column), strings.Join(rows, "\n"))
			}
		}
		for _, cell := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("|-\n", r) }) {
			if !strings.Contains(strings.Join(rows, "\n"), cell) {
				t.Errorf("%q is lost:\n%s", cell, strings.Join(rows, "\n"))
			}
		}
	}
}
