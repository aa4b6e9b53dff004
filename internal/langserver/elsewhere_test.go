package langserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/lookpath"
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

// TestErrorsInImporters: the same by tsserver, for a file that uses the changed one, and one that uses that.
func TestErrorsInImporters(t *testing.T) {
	bin := os.Getenv("AGENT_TEST_SERVERS")
	if bin == "" {
		t.Skip("AGENT_TEST_SERVERS is not set: make test-full does that")
	}
	shapes := "export function area(side: number): number {\n\treturn side * side;\n}\nexport function twice(n: number): number {\n\treturn 2 * n;\n}\n"
	dir := scratch.Dir(t, map[string]string{
		"tsconfig.json": `{"compilerOptions": {"strict": true}, "include": ["*.ts"]}`, "shapes.ts": shapes,
		"use.ts":  "import { area } from \"./shapes\";\n\nexport const big = area(3);\nexport const bad: number = \"text\";\n",
		"more.ts": "import { big } from \"./use\";\nconst twice: number = big * 2;\nconsole.log(twice.toFixed());\n",
	})
	scratch.Mkdir(t, filepath.Join(dir, "node_modules"))
	if err := os.Symlink(filepath.Join(bin, "../lib/node_modules/typescript"), filepath.Join(dir, "node_modules/typescript")); err != nil {
		t.Fatal(err)
	}
	s := allowAll(New(Options{Folders: []string{dir}, Env: os.Environ(), Programs: lookpath.Search{Path: bin + string(os.PathListSeparator) + os.Getenv("PATH")}}))
	t.Cleanup(s.Close)
	path := filepath.Join(dir, "shapes.ts")
	if _, err := s.Outline(t.Context(), Place{Path: path, Text: shapes}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ after, want string }{
		{strings.Replace(shapes, "area(", "surface(", 1), "use.ts:1 use.ts:4"},
		{strings.Replace(shapes, "number): number {\n\treturn side * side", "number): string {\n\treturn \"\" + side", 1), "more.ts:2 use.ts:4"},
		{strings.Replace(shapes, "twice(", "double(", 1), ""},
	} {
		before, after, err := s.Try(t.Context(), "typescript-language-server", []Proposal{{Path: path, Before: shapes, After: c.after}})
		was, got := places(dir, before), places(dir, after)
		if err != nil || c.want == "" && was != got || c.want != "" && (got != c.want || was != "use.ts:4") {
			t.Errorf("%q: %s before, %s after, %v; want %s", c.after, was, got, err, c.want)
		}
	}
}
