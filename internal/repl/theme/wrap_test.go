package theme_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"set the api-keys here", 12, []string{"set the", "api-keys", "here"}},
		{"llama-server --jinja", 15, []string{"llama-server", "--jinja"}},
		{"see https://a.example/b-c/d-e now", 27, []string{"see", "https://a.example/b-c/d-e", "now"}},
		{"go https://a.example/b-c/d", 12, []string{"go", "https://a.ex", "ample/b-c/d"}},
		{"  two  blanks stay", 30, []string{"  two  blanks stay"}},
		{"漢字漢字漢字漢字", 10, []string{"漢字漢字漢", "字漢字"}},
		{"a 漢字漢字漢字漢字", 10, []string{"a 漢字漢字", "漢字漢字"}},
		{"one\n\ntwo", 10, []string{"one", "", "two"}},
		{"", 10, []string{""}},
	} {
		if d := cmp.Diff(c.want, theme.Wrap(c.text, "", c.width)); d != "" {
			t.Errorf("%q at %d:\n%s", c.text, c.width, d)
		}
	}
}

// No line is too wide and, except for blanks at breaks, no text is lost.
func TestWrapLosesNothing(t *testing.T) {
	piece := rapid.SampledFrom([]string{"word", "a-b", " ", "  ", "\n", "漢字", "👩\u200d💻", "\x1b[31m", "\x1b[m", "https://a.example/with/a/long/path"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(rt, "text"), "")
		width := rapid.IntRange(10, 40).Draw(rt, "width")
		lines := theme.Wrap(text, "", width)
		for _, l := range lines {
			if cells.Width(l) > width {
				rt.Fatalf("%q is wider than %d", l, width)
			}
		}
		bare := strings.NewReplacer(" ", "", "\n", "")
		if got, want := bare.Replace(strings.Join(lines, "")), bare.Replace(text); got != want {
			rt.Fatalf("got %q of %q", got, want)
		}
	})
}
