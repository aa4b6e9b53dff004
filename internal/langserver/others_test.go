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

// tries has a server try 100 proposals for the file at path, half of which break something: each line of breaks is an error at the
// end of the text, and each pair of replaced is one in it. Of these 95 of 100 are named, and nothing of the others is.
func tries(t *testing.T, s *Servers, path string, breaks []string, replaced [][2]string) {
	t.Helper()
	if len(breaks) == 0 {
		return
	}
	before := scratch.Read(t, path)
	var times []time.Duration
	named, alarms := 0, 0
	for i := range 100 {
		after := before + strings.Repeat("\n", i/2%7+1)
		if k := i / 2 % (len(breaks) + len(replaced)); i%2 == 1 && k < len(breaks) {
			after += breaks[k]
		} else if i%2 == 1 {
			after = strings.Replace(after, replaced[k-len(breaks)][0], replaced[k-len(breaks)][1], 1)
		}
		began := time.Now()
		was, now, err := s.Try(t.Context(), s.Tries(path), []Proposal{{Path: path, Before: before, After: after}})
		times = append(times, time.Since(began))
		switch {
		case err != nil || len(was) > 0:
			t.Fatalf("proposal %d: %+v, %v, %v", i, was, err, times)
		case i%2 == 0 && len(now) > 0:
			alarms++
			t.Errorf("proposal %d breaks nothing: %+v", i, now)
		case i%2 == 1 && len(now) > 0:
			named++
		case i%2 == 1:
			t.Logf("proposal %d is not named: %q", i, after)
		}
	}
	if named < 48 { // 95 of 100
		t.Errorf("%d of 50 are named", named)
	}
	slices.Sort(times)
	t.Logf("%d of 50 are named, %d false alarms; half of the proposals are tried within %s, 95 of 100 within %s", named, alarms, times[50], times[95])
}

// TestOtherServers asks the real servers of other languages, if they are on the path that
// AGENT_TEST_SERVERS names: make test-full installs them.
func TestOtherServers(t *testing.T) {
	bin := os.Getenv("AGENT_TEST_SERVERS")
	if bin == "" {
		t.Skip("AGENT_TEST_SERVERS is not set: make test-full does that")
	}
	for _, c := range []struct {
		server   string
		files    map[string]string
		path     string // of the place where the name is used
		before   string // the name there
		name     string
		def      string
		breaks   []string    // lines that are errors
		replaced [][2]string // changes that are
	}{
		{
			"gopls", map[string]string{
				"go.mod": "module m\n\ngo 1.21\n", "shapes.go": "package m\n\n// 🙂\nfunc area(side int) int {\n\treturn side * side\n}\n",
				"use.go": "package m\r\n\r\nimport \"fmt\"\r\n\r\nvar big = /* 𝒳é */ area(3) + area(4)\r\n\r\nfunc show() { fmt.Println(big) }\r\n",
			}, "use.go", "𝒳é */ ", "area", "shapes.go:4",
			[]string{"var wrong int = missing\n", "var wrong int = \"text\"\n", "func torn( {\n", "func short() int {}\n", "func local() { x := 1 }\n", "var more = area(1, 2)\n"},
			[][2]string{{"import \"fmt\"", ""}, {"area(3)", "aera(3)"}, {"fmt.Println", "fmt.Printline"}, {"+ area(4)", "+ \"4\""}},
		},
		{
			"typescript-language-server", map[string]string{
				"tsconfig.json": `{"compilerOptions": {"strict": true}, "include": ["*.ts"]}`,
				"shapes.ts":     "/* 🙂 */ export function area(side: number): number {\n\treturn side * side;\n}\n",
				"use.ts":        "import { area } from \"./shapes\";\r\n\r\nexport const big = /* 𝒳é */ area(3) + area(4);\r\n",
			}, "use.ts", "𝒳é */ ", "area", "shapes.ts:1", []string{"const wrong: number = missing;\n", "const wrong: number = \"text\";\n", "export const more = area(\"3\");\n", "area(1, 2);\n", "const torn = (;\n", "big.nothing();\n"},
			[][2]string{{"area }", "are }"}, {"area(3)", "aera(3)"}, {"./shapes", "./shape"}, {"+ area(4)", "+ area()"}},
		},
		{
			"pyright", map[string]string{
				"pyproject.toml": "[project]\nname = \"m\"\n", "shapes.py": "def area(side):  # 🙂 area\n    return side * side\n", "use.py": "from shapes import area\n\nx = \"é𝒳\"; big = area(3) + area(4)\n",
			}, "use.py", "big = ", "area", "shapes.py:1", []string{"wrong = missing + 1\n", "def torn(:\n", "from shapes import nothing\n", "area()\n"}, [][2]string{{"import area", "import areas"}, {"area(3)", "aera(3)"}},
		},
		{
			"bash-language-server", map[string]string{
				"go.sh": "#!/bin/bash\narea() { echo $(($1 * $1)); }\narea 3\narea 4\n",
			}, "go.sh", "; }\n", "area", "go.sh:2", nil, nil,
		},
		{
			"clangd", map[string]string{
				"compile_flags.txt": "-xc\n", "shapes.h": "int area(int side);\n", "shapes.c": "#include \"shapes.h\"\nint area(int side) { return side * side; }\n", "use.c": "#include \"shapes.h\"\n/* 🙂 */ int big(void) { return area(3) + area(4); }\n",
			}, "use.c", "return ", "area", "shapes.h:1", []string{"int wrong = missing;\n", "int torn(;\n", "int more = area(1, 2, 3);\n"}, [][2]string{{"area(3)", "aera(3)"}},
		},
	} {
		t.Run(c.server, func(t *testing.T) {
			dir := scratch.Dir(t, c.files)
			if _, err := os.Stat(filepath.Join(bin, "tsc")); err == nil { // this server wants the project's own compiler
				scratch.Mkdir(t, filepath.Join(dir, "node_modules"))
				scratch.Symlink(t, filepath.Join(bin, "../lib/node_modules/typescript"), filepath.Join(dir, "node_modules/typescript"))
			}
			home, err := os.UserHomeDir()
			if err != nil {
				t.Fatal(err)
			}
			search := lookpath.Search{Path: bin + string(os.PathListSeparator) + filepath.Join(home, "go/bin") + string(os.PathListSeparator) + os.Getenv("PATH")}
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
			tries(t, s, filepath.Join(dir, c.path), c.breaks, c.replaced)
		})
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
	scratch.Symlink(t, filepath.Join(bin, "../lib/node_modules/typescript"), filepath.Join(dir, "node_modules/typescript"))
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
