//go:build network

package langserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// tries has a server try proposals for the file at path, half of which have the line breaks at their end.
func tries(t *testing.T, s *Servers, path, breaks string) {
	t.Helper()
	if breaks == "" {
		return
	}
	before := scratch.Read(t, path)
	var times []time.Duration
	for i := range 20 {
		after := before + strings.Repeat("\n", i+1)
		if i%2 == 1 {
			after += breaks
		}
		began := time.Now()
		was, now, err := s.Try(t.Context(), s.Tries(path), []Proposal{{Path: path, Before: before, After: after}})
		times = append(times, time.Since(began))
		if err != nil || len(was) > 0 || (len(now) > 0) != (i%2 == 1) {
			t.Fatalf("proposal %d: %+v, %+v, %v, %v", i, was, now, err, times)
		}
	}
	slices.Sort(times)
	t.Logf("half of the proposals are tried within %s, 95 of 100 within %s", times[10], times[18])
}

// TestOtherServers asks the real servers of other languages, if they are on the path that
// AGENT_TEST_SERVERS names: make test-full installs them.
func TestOtherServers(t *testing.T) {
	bin := os.Getenv("AGENT_TEST_SERVERS")
	if bin == "" {
		t.Skip("AGENT_TEST_SERVERS is not set: make test-full does that")
	}
	for _, c := range []struct {
		server string
		files  map[string]string
		path   string // of the place where the name is used
		before string // the name there
		name   string
		def    string
		breaks string // a line that is an error
	}{
		{
			"typescript-language-server", map[string]string{
				"tsconfig.json": `{"compilerOptions": {"strict": true}, "include": ["*.ts"]}`,
				"shapes.ts":     "/* 🙂 */ export function area(side: number): number {\n\treturn side * side;\n}\n",
				"use.ts":        "import { area } from \"./shapes\";\r\n\r\nexport const big = /* 𝒳é */ area(3) + area(4);\r\n",
			}, "use.ts", "𝒳é */ ", "area", "shapes.ts:1", "const wrong: number = missing;\n",
		},
		{
			"pyright", map[string]string{
				"pyproject.toml": "[project]\nname = \"m\"\n", "shapes.py": "def area(side):  # 🙂 area\n    return side * side\n", "use.py": "from shapes import area\n\nx = \"é𝒳\"; big = area(3) + area(4)\n",
			}, "use.py", "big = ", "area", "shapes.py:1", "wrong = missing + 1\n",
		},
		{
			"bash-language-server", map[string]string{
				"go.sh": "#!/bin/bash\narea() { echo $(($1 * $1)); }\narea 3\narea 4\n",
			}, "go.sh", "; }\n", "area", "go.sh:2", "",
		},
		{
			"clangd", map[string]string{
				"compile_flags.txt": "-xc\n", "shapes.h": "int area(int side);\n", "shapes.c": "#include \"shapes.h\"\nint area(int side) { return side * side; }\n", "use.c": "#include \"shapes.h\"\n/* 🙂 */ int big(void) { return area(3) + area(4); }\n",
			}, "use.c", "return ", "area", "shapes.h:1", "int wrong = missing;\n",
		},
	} {
		t.Run(c.server, func(t *testing.T) {
			dir := scratch.Dir(t, c.files)
			if _, err := os.Stat(filepath.Join(bin, "tsc")); err == nil { // this server wants the project's own compiler
				scratch.Mkdir(t, filepath.Join(dir, "node_modules"))
				if err := os.Symlink(filepath.Join(bin, "../lib/node_modules/typescript"), filepath.Join(dir, "node_modules/typescript")); err != nil {
					t.Fatal(err)
				}
			}
			search := lookpath.Search{Path: bin + string(os.PathListSeparator) + os.Getenv("PATH")}
			s := allowAll(New(Options{Folders: []string{dir}, Env: os.Environ(), Programs: search}))
			defer s.Close()
			if !s.Serve() {
				t.Skipf("%+v", s.List())
			}
			from := at(t, filepath.Join(dir, c.path), c.before)
			found, err := s.Definition(t.Context(), from)
			if err != nil || !strings.HasPrefix(lines(dir, found)+" ", c.def) {
				t.Errorf("defined at %q, %v", lines(dir, found), err)
			}
			read := func(path string) (string, error) { data, err := os.ReadFile(path); return string(data), err }
			edits, err := s.Rename(t.Context(), from, "surface", read)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range edits {
				rel := strings.TrimPrefix(e.Path, dir+"/")
				want := strings.ReplaceAll(c.files[rel], c.name, "surface")
				if strings.Contains(want, "# 🙂 surface") { // a comment
					want = strings.ReplaceAll(want, "# 🙂 surface", "# 🙂 area")
				}
				if e.After != want {
					t.Errorf("%s becomes %q, want %q", rel, e.After, want)
				}
			}
			if len(edits) == 0 {
				t.Error("nothing is renamed")
			}
			tries(t, s, filepath.Join(dir, c.path), c.breaks)
		})
	}
}
