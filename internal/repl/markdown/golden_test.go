package markdown

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/styles"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/golden"
)

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		for label, opt := range map[string]Options{
			"colors": {Width: 60}, "plain": {Width: 20, NoColor: true}, "wide": {Width: 200, NoColor: true},
		} {
			t.Run(name+"-"+label, func(t *testing.T) { golden.Lines(t, name+"-"+label, Render(string(text), opt)) })
		}
	}
}

// Where both render alike, words break where Glamour breaks them.
func TestAgreesWithGlamour(t *testing.T) {
	const text = "some **bold** and *slanted* words with `code` in a paragraph that is long enough to wrap, twice at the least\n\n" +
		"- an item\n- another one, long enough to wrap at the width that is given here, I think\n- a third\n\n" +
		"1. one\n2. two\n\nthe end of a text  \nafter a hard break\n"
	style := styles.ASCIIStyleConfig
	style.Document.Margin = nil
	style.Item.BlockPrefix = "- "
	style.Code.Prefix, style.Code.Suffix = "`", "`"
	r, err := glamour.NewTermRenderer(glamour.WithStyles(style), glamour.WithWordWrap(40))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := r.Render(text)
	if err != nil {
		t.Fatal(err)
	}
	ours := strings.Join(Render(text, Options{Width: 40, NoColor: true}), "\n")
	if d := cmp.Diff(strings.Fields(theirs), strings.Fields(ours)); d != "" {
		t.Errorf("glamour (-), ours (+):\n%s", d)
	}
}

func TestFinishedLinesComeAtOnce(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"paragraph", "one\ntwo\n\n", "one two"},
		{"paragraph not ended", "one\ntwo\n", ""},
		{"heading", "# title\n", "# title"},
		{"line of code", "```\nx := 1\ny :=", "  x := 1"},
		{"item", "- one\n- two\n- thr", "- one"},
		{"numbers go on", "1. one\n1. two\n1. three\n1. four\n", "1. one|2. two|3. three"},
		{"table", "| a |\n|---|\n| 1 |\n\n", " a|────| 1"},
		{"quote", "> q\n\n", "│ q"},
		{"code in an item waits", "- x\n\n  ```\n  code\n  ```\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := New(Options{Width: 40, NoColor: true}).Push(tt.text)
			if d := cmp.Diff(tt.want, strings.Join(got, "|")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTail(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"words", "one **bold", "one **bold"},
		{"after a block", "done\n\nnext", "|next"},
		{"line of code", "```go\nx := 1\ny :=", "  y :="},
		{"the fence's end", "```go\nx := 1\n``", ""},
		{"list", "- one\n- two", "- one|- two"},
		{"rest of a list", "- one\n- two\n- three", "- two|- three"},
		{"no heading from a first mark", "text\n-", "text"},
		{"rows when they are whole", "| a |\n|---|\n| 1 |\n| 2", " a|────| 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Options{Width: 40, NoColor: true})
			s.Push(tt.text)
			if d := cmp.Diff(tt.want, strings.Join(s.Tail(10), "|")); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(s.Tail(10), s.Tail(10)); d != "" {
				t.Error("not the same the second time:", d)
			}
		})
	}
}

func TestTailIsBounded(t *testing.T) {
	long := strings.Repeat("some words of a paragraph without an end ", 2000)
	s := New(Options{Width: 50, NoColor: true})
	s.Push(long)
	got := s.Tail(5)
	if len(got) != 5 {
		t.Fatalf("%d lines", len(got))
	}
	if !strings.HasSuffix(strings.TrimRight(long, " "), strings.TrimSpace(got[4])) {
		t.Errorf("the tail does not end as the text: %q", got[4])
	}
	if all := New(Options{Width: 50, NoColor: true}); len(append(all.Push("a\n\nb"), all.Tail(1)...)) != 2 {
		t.Error("a tail of one line is one line")
	}
}

func TestResize(t *testing.T) {
	s := New(Options{Width: 40, NoColor: true})
	s.Push("several words in a line")
	if got := s.Tail(9); len(got) != 1 {
		t.Fatalf("%q", got)
	}
	s.Resize(10)
	if d := cmp.Diff([]string{"several", "words in a", "line"}, s.Tail(9)); d != "" {
		t.Error(d)
	}
}

func TestMonsters(t *testing.T) {
	opt := Options{Width: 80}
	for name, text := range map[string]string{
		"links":   strings.Repeat("[a](", 30_000),
		"quotes":  strings.Repeat(">", 5000) + "a\n",
		"stars":   strings.Repeat("*a _b ", 5000) + "\n",
		"items":   strings.Repeat("- ", 3000) + "x\n",
		"block":   strings.Repeat("- item\n\n  more\n\n  > quote\n\n", 1) + strings.Repeat("  text of the item\n\n", 20_000),
		"columns": strings.Repeat("| a ", 300) + "|\n" + strings.Repeat("|---", 300) + "|\n" + strings.Repeat("| word ", 300) + "|\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := New(opt)
			var lines []string
			for i := 0; i < len(text); i += 1000 {
				lines = append(lines, s.Push(text[i:min(i+1000, len(text))])...)
				s.Tail(20)
			}
			lines = append(lines, s.Close()...)
			shown := ansi.Strip(strings.Join(lines, ""))
			for _, letter := range []string{"a", "x", "b"} {
				if got, want := strings.Count(shown, letter), strings.Count(text, letter); got != want {
					t.Errorf("%q is there %d times, want %d", letter, got, want)
				}
			}
		})
	}
}

func TestOutputIsFrugal(t *testing.T) {
	for name, text := range map[string]string{"mixed": mixed(100_000), "words": words(100_000)} {
		if n := stream(text, 1000, 0); n > 143<<10 {
			t.Errorf("%s: %d bytes for %d", name, n, len(text))
		}
	}
}

func ExampleStream() {
	s := New(Options{Width: 40, NoColor: true})
	for _, piece := range []string{"First **para", "graph**.\n", "\nSecond"} {
		for _, line := range s.Push(piece) {
			fmt.Println("finished:", line)
		}
	}
	fmt.Println("tail:", s.Tail(10)[1])
	// Output:
	// finished: First **paragraph**.
	// tail: Second
}
