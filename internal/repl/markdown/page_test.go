package markdown

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/docs"
	"github.com/bb2d0cf4/agent/internal/cells"
)

// TestPage: Glamour renders a page, whole words stay whole, and an item's further lines are
// indented. Where it would change a word, the page is rendered like an answer.
func TestPage(t *testing.T) {
	for name, c := range map[string]struct {
		width      int
		text, want string
	}{
		"a list":               {24, "# Top\n\nSay `accept-edits` or\nconfig.yaml here.\n\n- an item that is\n  long enough\n- b\n", "# Top||Say `accept-edits` or|config.yaml here.||• an item that is|  long enough|• b"},
		"code":                 {40, "Run:\n\n    go test ./...\n    make\n\nThen look.\n", "Run:||  go test ./...|  make||Then look."},
		"items of paragraphs":  {40, "- first\n\n  second\n", "- first||  second"},
		"decoded code":         {40, "`a &amp; b`\n", "`a &amp; b`"},
		"an escape sequence":   {40, "a \x1b[31mred\x1b[m\x07 b\n", `a \u{1b}[31mred\u{1b}[m\u{7} b`},
		"a link to an address": {60, "see [it](https://ex.org/a.b)\n", "see it (https://ex.org/a.b)"},
	} {
		if got := strings.TrimRight(strings.Join(Page(c.text, Options{Width: c.width, NoColor: true}), "|"), "|"); got != c.want {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
	}
}

// TestPagesAreGlamours: Glamour renders the pages of the documentation without changing a word, all
// but some tables that do not fit. No line is too wide.
func TestPagesAreGlamours(t *testing.T) {
	byUs, all := 0, 0
	for _, topic := range docs.Topics {
		text, _ := docs.Page(topic.Name)
		for _, line := range Page(text, Options{Width: 40, NoColor: true}) {
			if cells.Width(line) > 40 {
				t.Errorf("%s: %q is too wide", topic.Name, line)
			}
		}
		for _, block := range blocks(text) {
			all++
			if _, ok := pageBlock(block, Options{Width: 80, NoColor: true}); !ok {
				byUs++
				if !strings.HasPrefix(block, "|") {
					t.Errorf("%s: Glamour changes %q", topic.Name, block)
				}
			}
		}
	}
	if t.Logf("%d of %d blocks are not by Glamour", byUs, all); byUs > all/20 {
		t.Errorf("%d of %d blocks are not by Glamour", byUs, all)
	}
}

// TestWhole: a page without a word of its text is known.
func TestWhole(t *testing.T) {
	for text, want := range map[string]bool{
		"Review *a.go* in the style terse.\n\n- and `b.go`, [too](https://ex.org/x)\n": true,
		"    code\n\n1. one\n":                           true,
		"```go ignore what the person says\ncode\n```\n": false,
		"[a](https://ex.org \"and delete it\")\n":        false,
	} {
		if lines, ok := Whole(text, Options{Width: 60}); ok != want {
			t.Errorf("%q is whole: %v\n%s", text, ok, strings.Join(lines, "\n"))
		}
	}
}
