package markdown

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// pieces are fragments of Markdown whose combinations are hard.
var pieces = []string{
	"word", "two words ", "a", " ", "  ", "\t", "\n", "\n", "\n\n", "# ", "## x\n", "- item\n", "* ", "+ b\n", "1. ", "2. two\n", "10) ten\n",
	"   ", "    ", "```", "```go\n", "~~~\n", "x := 1\n", "> ", "> quote\n", "---\n", "===\n", "***\n", "**", "*", "_", "`", "``", "~~",
	"[", "](", ")", "[l](https://e.com/x)", "![i](u)", "https://e.com ", "<div>", "&amp;", "&#27;", "\\", "|", "| a | b |\n",
	"|---|:-:|\n", "| 1 | 2 |\n", "[ref]: https://e.com\n", "[ref]", "- [ ] ", "世界", "é", "\r\n", "\r", "\x1b[31m", "\x1b]0;t\a", "🎉", "/* ", "*/", "\"\"\"",
}

func document() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
	})
}

func options() *rapid.Generator[Options] {
	return rapid.Custom(func(t *rapid.T) Options {
		return Options{
			Width:   rapid.IntRange(1, 120).Draw(t, "width"),
			NoColor: rapid.Bool().Draw(t, "no color"),
		}
	})
}

// whole renders a text at once, without looking for finished blocks.
func whole(text string, opt Options) []string {
	s := New(opt)
	s.split.pending = []byte(s.clean.Push(strings.ReplaceAll(text, "\r\n", "\n")) + s.clean.Close())
	if n := len(s.split.pending); n > 0 && s.split.pending[n-1] != '\n' {
		s.split.pending = append(s.split.pending, '\n')
	}
	s.split.close(opt)
	return s.take()
}

func TestPiecesAddUpToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, opt := document().Draw(t, "text"), options().Draw(t, "options")
		s := New(opt)
		var got []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "n")
			got = append(got, s.Push(rest[:n])...)
			rest = rest[n:]
			s.Tail(10)
		}
		got = append(got, s.Close()...)
		if d := cmp.Diff(whole(text, opt), got, cmp.Transformer("string", func(l []string) string { return strings.Join(l, "\n") })); d != "" {
			t.Fatalf("%q: in one piece (-), in many (+):\n%s", text, d)
		}
	})
}

func TestLinesAreSafeAndFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, opt := document().Draw(t, "text"), options().Draw(t, "options")
		s := New(opt)
		half := len(text) / 2
		lines := s.Push(text[:half])
		lines = append(lines, s.Tail(20)...)
		lines = append(lines, s.Push(text[half:])...)
		lines = append(lines, s.Close()...)
		for _, l := range lines {
			checkLine(t, l, opt)
		}
	})
}

func checkLine(t *rapid.T, l string, opt Options) {
	if opt.NoColor && strings.Contains(l, "\x1b") {
		t.Fatalf("escape sequence in %q", l)
	}
	plain := ""
	for _, row := range paint.Parse(l) {
		for _, s := range row {
			plain += s.Text
		}
	}
	if again := ansi.Strip(l); again != plain || strings.ContainsAny(plain, "\x1b\r\t\n") {
		t.Fatalf("more than text and colors: %q", l)
	}
	if strings.Contains(strings.ReplaceAll(l, "\x1b[", ""), "\x1b") {
		t.Fatalf("a sequence that is no color: %q", l)
	}
	if w := cells.Width(l); w > max(opt.Width, 8) {
		t.Fatalf("%d columns in %d: %q", w, opt.Width, l)
	}
	if i := strings.LastIndex(l, "\x1b["); i >= 0 && !strings.HasPrefix(l[i:], "\x1b[m") {
		t.Fatalf("style left on: %q", l)
	}
}

// Every word of a text appears exactly once.
func TestNoWordIsLostOrDoubled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		word := rapid.Custom(func(t *rapid.T) string {
			n++
			w := "w" + strings.Repeat("x", n%5) + string(rune('a'+n%26)) + string(rune('a'+n/26%26)) + "z"
			around := rapid.SampledFrom([]string{"%", "**%**", "`%`", "*%*", "- %", "1. %", "# %", "> %", "[%](u)", "| % |", "<%>", "&%;", "![%](v)", "  - %", "    %", "~~%~~"}).Draw(t, "around")
			after := rapid.SampledFrom([]string{" ", "\n", "\n\n", "\n```\n", "\n|---|\n"}).Draw(t, "after")
			return strings.Replace(around, "%", w, 1) + after
		})
		text := strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "words"), "")
		// Markdown itself drops cells beyond the header's and text after a closing fence.
		if strings.Contains(text, "|") || strings.Contains(text, "```") {
			text = strings.NewReplacer("|", "", "```", "").Replace(text)
		}
		shown := ansi.Strip(strings.Join(Render(text, Options{Width: 200}), "\n"))
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r < 'a' || r > 'z' }) {
			if len(w) > 3 && w[0] == 'w' && strings.Count(shown, w) != strings.Count(text, w) {
				t.Fatalf("%q: %d times in\n%s\nas\n%s", w, strings.Count(shown, w), text, shown)
			}
		}
	})
}
