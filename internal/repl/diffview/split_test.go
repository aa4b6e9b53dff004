package diffview_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
)

// wideText contains wide characters, tabs, and lines longer than half a screen.
func wideText() diffview.Change {
	before := "func f() {\n\tx := \"漢字漢字漢字\" // 文字\n\treturn x\n}\n\nconst long = \"" + strings.Repeat("字 ab ", 30) + "\"\nlast"
	after := strings.NewReplacer("漢字 // ", "漢字 // ", "\"漢字漢字漢字\"", "\"漢字\"", "\treturn x\n", "\tlog(x)\n\n\treturn x + x\n", "ab ", "AB ", "last", "last\n").Replace(before)
	return diffview.Change{Name: "w.go", Before: before, After: after, Exists: true}
}

func TestLayoutGolden(t *testing.T) {
	for name, c := range map[string]diffview.Change{"edit": changes()["edit"], "wide": wideText(), "create": changes()["create"], "endings": changes()["endings"]} {
		for _, width := range []int{40, 80, 120, 200} {
			for label, layout := range map[string]diffview.Layout{"unified": diffview.Unified, "split": diffview.Split} {
				v := diffview.New(c, diffview.Options{Width: width, Layout: layout})
				golden.Lines(t, fmt.Sprintf("%s-%s-%d", label, name, width), append(slices.Clone(v.Header()), v.Lines(0, v.Len())...))
			}
		}
	}
	v := diffview.New(places(), diffview.Options{Width: 100, Layout: diffview.Split})
	v.Hunks().Mark(3)
	v.Hunks().Toggle(1)
	v.Hunks().Toggle(3)
	golden.Lines(t, "split-leftout-100", append(slices.Clone(v.Header()), v.Lines(0, v.Len())...))
}

func TestLayoutFollowsTheWidth(t *testing.T) {
	for _, tc := range []struct {
		layout diffview.Layout
		width  int
		split  bool
	}{
		{diffview.Auto, 139, false},
		{diffview.Auto, 140, true},
		{diffview.Unified, 500, false},
		{diffview.Split, 60, true},
		{diffview.Split, 59, false},
		{diffview.Split, 1, false},
	} {
		v := diffview.New(wideText(), diffview.Options{Width: 100, Layout: diffview.Unified})
		v.Arrange(tc.layout)
		v.Resize(tc.width)
		if v.Split() != tc.split || strings.Contains(strings.Join(v.Lines(0, v.Len()), ""), " │ ") != tc.split {
			t.Errorf("layout %v at %d columns: side by side %v", tc.layout, tc.width, v.Split())
		}
	}
}

// The left side is the old text and the right side the new one, complete and in order.
func TestSidesAreTheTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "c", "d", "", "字"})
		before := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "before"), "\n")
		after := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "after"), "\n")
		v := diffview.New(diffview.Change{Name: "f", Before: before, After: after, Exists: true},
			diffview.Options{Width: 101, NoColor: true, Layout: diffview.Split})
		v.Expand(true)
		if before == after {
			return
		}
		var left, right []string
		for _, row := range v.Lines(0, v.Len()) {
			if strings.Contains(row, "no newline") && !strings.Contains(row, "│") {
				continue // of both
			}
			l, r, found := strings.Cut(row, "│")
			if at := cells.Width(l); at != 50 || !found {
				t.Fatalf("the border is at column %d of %q", at, row)
			}
			left, right = side(left, l), side(right, strings.TrimPrefix(r, " "))
		}
		if got, want := strings.Join(left, "\n"), strings.TrimSuffix(before, "\n"); got != want {
			t.Fatalf("left %q, want %q\n%s", got, want, strings.Join(v.Lines(0, v.Len()), "\n"))
		}
		if got, want := strings.Join(right, "\n"), strings.TrimSuffix(after, "\n"); got != want {
			t.Fatalf("right %q, want %q\n%s", got, want, strings.Join(v.Lines(0, v.Len()), "\n"))
		}
	})
}

// side appends the line of a file in a cell, if it holds one.
func side(lines []string, cell string) []string {
	if len(cell) < 2 || strings.TrimSpace(cell[:min(2, len(cell))]) == "" || strings.Contains(cell, "no newline") {
		return lines
	}
	text := ""
	if len(cell) > 5 {
		text = strings.TrimRight(cell[5:], " ")
	}
	return append(lines, text)
}
