package langserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// project is a Go module with servers for it.
func project(t *testing.T, files map[string]string) (*Servers, string) {
	t.Helper()
	files["go.mod"] = "module example.com/m\n\ngo 1.21\n"
	dir := scratch.Dir(t, files)
	s := New(Options{Folders: []string{dir}, Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off"), Programs: lookpath.Search{Path: tools(t) + string(os.PathListSeparator) + os.Getenv("PATH")}})
	t.Cleanup(s.Close)
	return allowAll(s), dir
}

// allowAll lets all servers start.
func allowAll(s *Servers) *Servers {
	for _, u := range s.List() {
		s.Allow(u)
	}
	return s
}

// tools returns the folder with the servers that scripts/test-needs.sh installs.
func tools(t *testing.T) string {
	t.Helper()
	scratch.Need(t, "go")
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOPATH").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "bin")
	if _, err := os.Stat(filepath.Join(dir, "gopls")); err != nil {
		t.Skip("gopls is not installed: run bash scripts/test-needs.sh")
	}
	return dir
}

// at returns the place of the first mark in a file, after which the name begins.
func at(t *testing.T, path, before string) Place {
	t.Helper()
	text := scratch.Read(t, path)
	i := strings.Index(text, before)
	if i < 0 {
		t.Fatalf("no %q in %s", before, path)
	}
	return Place{path, text, i + len(before)}
}

// lines writes locations as names with lines.
func lines(dir string, all []Location) string {
	var out []string
	for _, l := range all {
		out = append(out, fmt.Sprintf("%s:%d", strings.TrimPrefix(l.Path, dir+"/"), l.Line))
	}
	return strings.Join(out, " ")
}

const (
	shapes = "package m\n\n// Area of a 𝒮quare.\nfunc Area(side int) int {\n\treturn side * side\n}\n\ntype Box struct{ Side int }\n\nfunc (b Box) Size() int { return Area(b.Side) }\n"
	use    = "package m\r\n\r\n/* é 𝒳 */ var big = /* 🙂 */ Area(3) + Area(4)\r\n"
)

// TestGopls asks a real server: places, an outline, the project's names, after a change by somebody else too.
func TestGopls(t *testing.T) {
	s, dir := project(t, map[string]string{"shapes.go": shapes, "use.go": use, "sub/other.go": "package sub\n\nimport \"example.com/m\"\n\nvar x = m.Area(1)\n"})
	if s.running["gopls"] != nil || !s.Serve() || s.Asked() {
		t.Fatalf("before a question: %v, %+v", s.running, s.List())
	}
	ctx := t.Context()
	found, err := s.Definition(ctx, at(t, filepath.Join(dir, "use.go"), "🙂 */ "))
	if err != nil || lines(dir, found) != "shapes.go:4" {
		t.Errorf("defined at %q, %v", lines(dir, found), err)
	}
	found, err = s.References(ctx, at(t, filepath.Join(dir, "shapes.go"), "func "))
	if got := lines(dir, found); err != nil || len(found) != 5 || strings.Count(got, "use.go:3") != 2 || !strings.Contains(got, "sub/other.go:5") {
		t.Errorf("used at %q, %v", got, err)
	}
	outline, err := s.Outline(ctx, at(t, filepath.Join(dir, "shapes.go"), ""))
	var names []string
	for _, each := range outline {
		names = append(names, fmt.Sprintf("%s %s:%d", each.Kind, each.Name, each.Line))
	}
	if got := strings.Join(names, ", "); err != nil || got != "function Area:4, struct Box:8, field Side:8, method (Box).Size:10" {
		t.Errorf("outline: %s, %v", got, err)
	}
	if !s.Asked() {
		t.Error("no server has started")
	}
	named, err := s.Find(ctx, "Box")
	if err != nil || len(named) == 0 || lines(dir, []Location{named[0].Location}) != "shapes.go:8" {
		t.Errorf("found %+v, %v", named, err)
	}
	scratch.Write(t, filepath.Join(dir, "more.go"), "package m\n\nfunc twice() int { return 2 * Area(2) }\n")
	s.Changed(filepath.Join(dir, "more.go"))
	found, err = s.References(ctx, at(t, filepath.Join(dir, "shapes.go"), "func "))
	if got := lines(dir, found); err != nil || !strings.Contains(got, "more.go:3") {
		t.Errorf("after a new file: %q, %v", got, err)
	}
}

// TestRename: a rename gives the texts of all files, whatever their line endings and characters, and writes
// none of them.
func TestRename(t *testing.T) {
	s, dir := project(t, map[string]string{"shapes.go": shapes, "use.go": use})
	read := func(path string) (string, error) { data, err := os.ReadFile(path); return string(data), err }
	edits, err := s.Rename(t.Context(), at(t, filepath.Join(dir, "use.go"), "🙂 */ "), "Surface", read)
	if err != nil || len(edits) != 2 {
		t.Fatalf("%d edits, %v", len(edits), err)
	}
	for i, want := range []string{
		strings.NewReplacer("Area of", "Surface of", "Area(", "Surface(").Replace(shapes), strings.ReplaceAll(use, "Area(", "Surface("),
	} {
		if edits[i].After != want || edits[i].Before != scratch.Read(t, edits[i].Path) {
			t.Errorf("%s becomes %q, want %q", edits[i].Path, edits[i].After, want)
		}
	}
	if _, err := s.Rename(t.Context(), at(t, filepath.Join(dir, "use.go"), "🙂 */ "), "no name", read); err == nil || !strings.Contains(err.Error(), "gopls: ") {
		t.Errorf("%v", err)
	}
}

// TestSickServers: none of them hangs, and each reason is told.
func TestSickServers(t *testing.T) {
	for script, want := range map[string]string{
		"exit 3":                             "sick: the server ended",
		"echo 'no such project' >&2; exit 1": "sick: the server ended: no such project",
		"echo hello":                         "sick: the server ended",
		"(setsid sleep 20 2>/dev/null &); exit 4":                     "sick: the server ended",
		"printf 'Content-Length: 5\\r\\n\\r\\n{{{{{'; cat >/dev/null": "sick: no answer within",
	} {
		dir := scratch.Dir(t, map[string]string{"bin/sick": "#!/bin/sh\n" + script + "\n", "p/a.foo": "x"})
		if err := os.Chmod(filepath.Join(dir, "bin/sick"), 0o755); err != nil {
			t.Fatal(err)
		}
		s := New(Options{
			Folders: []string{filepath.Join(dir, "p")}, Programs: lookpath.Search{Path: filepath.Join(dir, "bin")}, Env: os.Environ(),
			Servers: []Server{{Name: "sick", Command: []string{"sick"}, Languages: map[string]string{".foo": "foo"}}},
		})
		allowAll(s)
		ctx := t.Context()
		if strings.Contains(want, "within") {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			cancel()
			want = "sick: context canceled"
		}
		_, err := s.Definition(ctx, Place{Path: filepath.Join(dir, "p/a.foo"), Text: "x"})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
		s.Close()
	}
}
