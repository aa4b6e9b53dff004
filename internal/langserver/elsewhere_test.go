package langserver

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/editor"
)

// places writes diagnostics as names with lines, in their order.
func places(dir string, all []editor.Diagnostic) string {
	var out []Location
	for _, d := range all {
		out = append(out, Location{Path: d.Path, Line: d.Line})
	}
	slices.SortFunc(out, func(a, b Location) int { return strings.Compare(a.Path, b.Path) })
	return lines(dir, out)
}

// TestErrorsElsewhere: a proposal that breaks other files of the package, and of another, is named with these, and older
// errors are not.
func TestErrorsElsewhere(t *testing.T) {
	s, dir := project(t, map[string]string{
		"shapes.go": shapes, "use.go": use, "old.go": "package m\n\nvar old = missing\n", "sub/other.go": "package sub\n\nimport \"example.com/m\"\n\nvar x = m.Area(1)\n",
	})
	path := filepath.Join(dir, "shapes.go")
	if _, err := s.Definition(t.Context(), at(t, path, "return ")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ after, want string }{
		{strings.ReplaceAll(shapes, "Area", "Surface"), "sub/other.go:5 use.go:3 use.go:3"},
		{strings.ReplaceAll(shapes, "Box", "Crate"), ""},
		{strings.ReplaceAll(shapes, "Area", "Surface"), "sub/other.go:5 use.go:3 use.go:3"},
		{strings.Replace(shapes, "side * side", "side * 3", 1), ""},
	} {
		before, after, err := s.Try(t.Context(), "gopls", []Proposal{{Path: path, Before: shapes, After: c.after}})
		for range 9 { // on a busy machine it may tell of the other package too late
			if err != nil || len(after) >= strings.Count(c.want, ":") {
				break
			}
			before, after, err = s.Try(t.Context(), "gopls", []Proposal{{Path: path, Before: shapes, After: c.after}})
		}
		if got := places(dir, after); err != nil || got != c.want || len(before) > 0 {
			t.Errorf("%q: %s before, %s after, %v; want %s", c.after, places(dir, before), got, err, c.want)
		}
	}
	if p := s.running["gopls"]; p == nil || p.files != nil {
		t.Error("reports about files that are not open are kept")
	}
}
