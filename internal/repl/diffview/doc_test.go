package diffview

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// A diff of several files is shown as a question shows it: titles, numbers, signs.
func TestDoc(t *testing.T) {
	unified := diff.Unified("a.go", "a.go", "one\n-- two\n", "one\n++ three\n") + diff.Unified("", "new.go", "", "made\n") +
		diff.Unified("old.go", "", "gone\n", "") + diff.Unified("from \"x\".go", "to.go", "same\n", "same\n") + diff.Unified("b c.go", "d.go", "x\ny\n", "x\nz\n") +
		diff.Unified("", "empty.go", "", "")
	doc := Doc(unified)
	look := theme.Look{Width: 40, NoColor: true}
	var rows, texts []string
	for i := range doc.Len() {
		rows = append(rows, doc.Rows(i, look)...)
		texts = append(texts, doc.Text(i))
	}
	wantRows := []string{
		"edit a.go +1 −1", " 1   one", " 2 - -- two", " 2 + ++ three", "create new.go +1 −0", " 1 + made", "delete old.go +0 −1", " 1 - gone",
		`move from "x".go → to.go +0 −0`, "move b c.go → d.go +1 −1", " 1   x", " 2 - y", " 2 + z", "create empty.go +0 −0",
	}
	if d := cmp.Diff(wantRows, rows); d != "" {
		t.Error(d)
	}
	wantTexts := []string{
		"Edit a.go: 1 line added, 1 removed", " one", "--- two", "+++ three", "Create new.go: 1 line added", "+made", "Delete old.go: 1 line removed", "-gone",
		`Move from "x".go to to.go: no line changed`, "Move b c.go to d.go: 1 line added, 1 removed", " x", "-y", "+z", "Create empty.go: no line changed",
	}
	if d := cmp.Diff(wantTexts, texts); d != "" {
		t.Error(d)
	}
}

// Whatever the texts and the size: rows fit, every changed line is there, and laying out again for
// another size shows the same.
func TestAnyDoc(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab -+@\n\t漢\x1b")), 0, 80, -1)
		files := rapid.IntRange(1, 3).Draw(t, "files")
		unified, changed := "", 0
		for range files {
			a, b := text.Draw(t, "a"), text.Draw(t, "b")
			unified += diff.Unified("x.go", "x.go", a, b)
			added, removed := diff.Count(a, b)
			changed += added + removed
		}
		doc := Doc(unified)
		for _, width := range []int{rapid.IntRange(1, 90).Draw(t, "width"), 80} {
			look, got := theme.Look{Width: width, NoColor: true}, 0
			for i := range doc.Len() {
				if s := doc.Text(i); strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
					got++
				}
				for _, row := range doc.Rows(i, look) {
					if strings.Contains(row, "\x1b") || cells.Width(row) > max(width, 12) {
						t.Fatalf("%q at %d", row, width)
					}
				}
			}
			if got != changed {
				t.Fatalf("%d changed lines of %d in\n%s", got, changed, unified)
			}
		}
	})
}
