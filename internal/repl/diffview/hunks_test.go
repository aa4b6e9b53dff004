package diffview_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
)

// places is a change in three places, the last of them without a newline.
func places() diffview.Change {
	var b strings.Builder
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	before := strings.TrimSuffix(b.String(), "\n")
	after := strings.NewReplacer("line 3\n", "line three\n", "line 12\n", "", "line 20\n", "line 20\nand a half\n", "line 30", "line thirty").Replace(before)
	return diffview.Change{Name: "a.txt", Before: before, After: after, Exists: true}
}

func TestHunks(t *testing.T) {
	v := diffview.New(places(), diffview.Options{Width: 60, NoColor: true})
	h := v.Hunks()
	if h.Len() != 4 || h.Marked() != -1 || len(h.Out()) != 0 {
		t.Fatalf("%d hunks, %d marked, %v left out", h.Len(), h.Marked(), h.Out())
	}
	var at []string
	for i := range h.Len() {
		header, line := h.Place(i)
		first, last := h.Mark(i)
		at = append(at, fmt.Sprint(header, " ", line, ": ", strings.Join(v.Lines(first, last-first+1), "|")))
	}
	want := []string{
		"@@ -2,3 +2,3 @@ 3:  3    -▌line 3|    3 +▌line three",
		"@@ -11,3 +11,2 @@ 11: 12    -▌line 12",
		"@@ -20,2 +19,3 @@ 20:    20 +▌and a half",
		"@@ -29,2 +29,2 @@ 30: 30    -▌line 30|      \\ no newline at the end of the file|   30 +▌line thirty",
	}
	if d := cmp.Diff(want, at); d != "" {
		t.Error(d)
	}
	h.Mark(-1)
	if got := strings.Join(v.Lines(0, v.Len()), "\n"); strings.Contains(got, "▌") {
		t.Errorf("still marked:\n%s", got)
	}
	for offset, want := range map[int]int{0: 0, 2: 0, 6: 1, v.Len() - 1: 3, v.Len() + 9: 3} {
		if got := h.Next(offset); got != want {
			t.Errorf("below line %d is hunk %d, want %d", offset, got, want)
		}
	}
}

func TestLeftOutGolden(t *testing.T) {
	for label, o := range map[string]diffview.Options{
		"color": {Width: 80}, "plain": {Width: 40, NoColor: true},
	} {
		v := diffview.New(places(), o)
		v.Hunks().Mark(2)
		v.Hunks().Toggle(0)
		v.Hunks().Toggle(2)
		golden.Lines(t, "leftout-"+label, append(slices.Clone(v.Header()), v.Lines(0, v.Len())...))
	}
}

// The header counts only the hunks that are kept.
func TestHeaderCountsKeptHunks(t *testing.T) {
	v := diffview.New(places(), diffview.Options{Width: 80, NoColor: true})
	h := v.Hunks()
	h.Toggle(0)
	h.Toggle(3)
	if d := cmp.Diff([]string{"edit a.txt +1 −1", "! 2 of 4 hunks left out: they stay unchanged"}, v.Header()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{0, 3}, h.Out()); d != "" {
		t.Error(d)
	}
	h.Toggle(0)
	h.Toggle(3)
	if d := cmp.Diff([]string{"edit a.txt +3 −3"}, v.Header()); d != "" {
		t.Error("all taken again:", d)
	}
}

// The screen shows what would be written: the lines neither deleted nor left out, in order.
func TestShownIsComposed(t *testing.T) {
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		before := strings.Join(rapid.SliceOfN(line, 1, 30).Draw(t, "before"), "\n") + "\n"
		after := strings.Join(rapid.SliceOfN(line, 1, 30).Draw(t, "after"), "\n") + "\n"
		v := diffview.New(diffview.Change{Name: "f", Before: before, After: after, Exists: true}, diffview.Options{Width: 100, NoColor: true})
		h := v.Hunks()
		if h.Len() == 0 {
			return
		}
		if rapid.Bool().Draw(t, "unfold first") {
			v.Expand(true)
		}
		for i := range h.Len() {
			if rapid.SampledFrom([]bool{true, false}).Draw(t, "leave out") {
				h.Toggle(i)
				seen++
			}
		}
		v.Expand(true)
		var got strings.Builder
		for _, row := range v.Lines(0, v.Len()) {
			sign, text := row[6:7], strings.TrimLeft(row[6:], "×")[2:]
			if strings.HasPrefix(row[6:], "×") || sign == "-" {
				continue
			}
			got.WriteString(text + "\n")
		}
		if got.String() != h.Text() {
			t.Fatalf("shown %q, composed %q\n%s", got.String(), h.Text(), strings.Join(v.Lines(0, v.Len()), "\n"))
		}
	})
	if seen == 0 {
		t.Error("nothing was left out")
	}
}

// The marks of hunks do not widen a row where ambiguous characters are wide.
func TestMarksOfHunksAreNarrow(t *testing.T) {
	cells.WideAmbiguous(true)
	defer cells.WideAmbiguous(false)
	long := strings.Repeat("wwww", 40) + "\n"
	c := diffview.Change{Name: "a.txt", Before: "one\n" + strings.Repeat("=\n", 20) + "two\n", After: long + strings.Repeat("=\n", 20) + long, Exists: true}
	for _, o := range []diffview.Options{{Width: 40}, {Width: 80, Layout: diffview.Split}, {Width: 70, Tint: true}} {
		v := diffview.New(c, o)
		v.Hunks().Toggle(0)
		v.Hunks().Mark(1)
		for _, l := range v.Lines(0, v.Len()) {
			if w := cells.Width(l); w > o.Width {
				t.Errorf("%d columns of %d: %q", w, o.Width, l)
			}
		}
	}
}
