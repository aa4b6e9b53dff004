//go:build unix && network

package tools

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// withServer returns a bench whose names are answered by a real server, which make test-full installs.
func withServer(t *testing.T, server string, files map[string]string) (*bench, *langserver.Servers) {
	t.Helper()
	bin := os.Getenv("AGENT_TEST_SERVERS")
	if bin == "" {
		t.Skip("AGENT_TEST_SERVERS is not set: make test-full does that")
	}
	b := newBench(t, files)
	if _, ok := files["tsconfig.json"]; ok { // this server wants the project's own compiler
		if err := os.MkdirAll(b.path("node_modules"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(bin, "../lib/node_modules/typescript"), b.path("node_modules/typescript")); err != nil {
			t.Fatal(err)
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{bin, filepath.Join(home, "go/bin"), os.Getenv("PATH")}, string(os.PathListSeparator))
	s := langserver.New(langserver.Options{
		Folders: []string{b.dir}, Programs: lookpath.Search{Path: path, Dirs: []string{b.dir}}, Env: append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod"),
	})
	t.Cleanup(s.Close)
	found := false
	for _, u := range s.List() {
		if found = found || u.Name == server && u.Path != ""; u.Name == server {
			s.Allow(u)
		}
	}
	if !found {
		t.Skipf("%s is not installed: %+v", server, s.List())
	}
	b.deps.Languages = s
	b.set = NewSet(b.deps)
	return b, s
}

// marks are the texts of a project in which «» are around each place of a name; § is the number of the name.
type marks map[string]string

// with returns the texts for n names, of which number i has another name.
func (m marks) with(n, i int, name string) map[string]string {
	out := map[string]string{}
	mark := regexp.MustCompile(`«(\w+?)(\d+)»`)
	for file, text := range m {
		var all strings.Builder
		for line := range strings.Lines(text) {
			if !strings.Contains(line, "§") {
				all.WriteString(line)
				continue
			}
			for k := range n {
				all.WriteString(strings.ReplaceAll(line, "§", fmt.Sprint(k)))
			}
		}
		out[file] = mark.ReplaceAllStringFunc(all.String(), func(found string) string {
			if m := mark.FindStringSubmatch(found); m[2] == fmt.Sprint(i) {
				return name
			}
			return strings.Trim(found, "«»")
		})
	}
	return out
}

// TestFiftyRenames: renames in five languages, by their real servers, give exactly the texts with the other name, whatever ends and
// fills the lines; one undo takes each back, and a part that is left out is left out.
func TestFiftyRenames(t *testing.T) {
	const each = 10
	for server, c := range map[string]struct {
		files  marks
		at     string // of a use; § is the number
		symbol string
	}{
		"gopls": {marks{
			"go.mod":       "module example.com/m\n\ngo 1.21\n",
			"shapes.go":    "package m\n\n/* 🙂 */ func «Area§»(side int) int {\treturn side * side }\n",
			"use.go":       "package m\r\n\r\n/* é𝒳 */ var big§ = /* 🙂 */ «Area§»(3) +\t«Area§»(4)\r\n",
			"sub/other.go": "package sub\n\nimport \"example.com/m\"\n\nvar x§ = \"𝒳🙂\"[0:m.«Area§»(1)]\n",
		}, "use.go:big§", "Area§"},
		"typescript-language-server": {marks{
			"tsconfig.json": `{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}, "include": ["*.ts"]}`,
			"shapes.ts":     "/* 🙂 */ export function «area§»(side: number): number {\treturn side * side; }\n",
			"use.ts":        "import { «area§» } from \"./shapes\";\r\nexport const big§ = /* 🙂𝒳é */ «area§»(3) +\t«area§»(4);\r\n",
			"more.ts":       "import { «area§» } from \"./shapes\";\nexport const text§ = `𝒳🙂 ${«area§»(1)}\t${«area§»(2)}`;\n",
		}, "use.ts:big§", "area§"},
		"pyright": {marks{
			"pyproject.toml": "[project]\nname = \"m\"\n",
			"shapes.py":      "x = \"🙂\"\ndef «area§»(side): return side *\tside\n",
			"use.py":         "from shapes import «area§»\r\ny§ = \"é𝒳🙂\"; big§ = «area§»(3) +\t«area§»(4)\r\n",
			"more.py":        "from shapes import «area§»\nt§ = f\"🙂 {«area§»(1)}\t{«area§»(2)}\"\n",
		}, "use.py:big§", "area§"},
		"clangd": {marks{
			"compile_commands.json": `[{"directory": "DIR", "command": "cc -c use.c", "file": "use.c"}, {"directory": "DIR", "command": "cc -c shapes.c", "file": "shapes.c"}]`,
			"shapes.h":              "int «area§»(int side);\n",
			"shapes.c":              "#include \"shapes.h\"\n/* 🙂 */ int «area§»(int side) {\treturn side * side; }\n",
			"use.c":                 "#include \"shapes.h\"\r\n/* 🙂𝒳é */ int big§(void) { return «area§»(3) +\t«area§»(4); }\r\n",
		}, "use.c:big§", "area§"},
		"bash-language-server": {marks{
			"go.sh": "#!/bin/bash\n«area§»() { echo $(($1 * $1)); }\necho \"🙂𝒳\" \"$(«area§» 3)\"\t\"$(«area§» 4)\"; «area§» 5\n",
		}, "go.sh:«area§»() {", "area§"},
	} {
		t.Run(server, func(t *testing.T) {
			before := c.files.with(each, -1, "")
			b, s := withServer(t, server, before)
			if text, ok := before["compile_commands.json"]; ok {
				before["compile_commands.json"] = strings.ReplaceAll(text, "DIR", b.dir)
				b.write("compile_commands.json", before["compile_commands.json"])
			}
			changed := func() {
				for name := range before {
					s.Changed(b.path(name))
				}
			}
			for i := range each {
				number := fmt.Sprint(i)
				name := strings.ReplaceAll(c.symbol, "§", "") + "Of" + strings.Repeat("x", i)
				args := m{"symbol": strings.ReplaceAll(c.symbol, "§", number), "at": strings.Trim(strings.ReplaceAll(strings.NewReplacer("«", "", "»", "").Replace(c.at), "§", number), " "), "new_name": name}
				b.ask.asked = nil
				want := c.files.with(each, i, name)
				for file := range want {
					if file == "compile_commands.json" {
						want[file] = before[file]
					}
				}
				leave := ""
				if i == each-1 { // the reviewer leaves out one file, and a part of another
					b.ask.during = func(req confirm.Request) { leave = b.leaveOut(req, want, before) }
				}
				res := b.call("rename_symbol", args)
				changed()
				b.ask.during, b.ask.verdict = nil, confirm.Verdict{Decision: confirm.Approve, By: "test"}
				if res.Failed || len(b.ask.asked) != 1 {
					t.Fatalf("%v: asked %d times: %s", args, len(b.ask.asked), res.ForModel)
				}
				for file, text := range want {
					if got := b.read(file); got != text {
						t.Errorf("rename %d %s: %s is\n%q, want\n%q", i, leave, file, got, text)
					}
				}
				b.undone(undo.LastChange)
				changed()
				for file, text := range before {
					if got := b.read(file); got != text {
						t.Errorf("after the undo of rename %d %s is %q", i, file, got)
					}
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// leaveOut answers with the last changed line of the last file left unchanged, and updates want.
func (b *bench) leaveOut(req confirm.Request, want, before map[string]string) string {
	if req.Later {
		return ""
	}
	e := confirm.As[*confirm.Edits](req)
	if e == nil {
		b.Fatalf("asked about %+v", req.Subject)
	}
	i := len(e.Changes) - 1
	c := e.Changes[i]
	old, after := strings.SplitAfter(c.Text, "\n"), strings.SplitAfter(c.After, "\n")
	for n := len(after) - 1; n >= 0; n-- {
		if after[n] != old[n] {
			after[n] = old[n]
			break
		}
	}
	b.ask.verdict.Texts = map[int]string{i: strings.Join(after, "")}
	rel, _ := filepath.Rel(b.dir, c.Path)
	lines := strings.SplitAfter(want[rel], "\n")
	was := strings.SplitAfter(before[rel], "\n")
	for n := len(lines) - 1; n >= 0; n-- {
		if lines[n] != was[n] {
			lines[n] = was[n]
			break
		}
	}
	want[rel] = strings.Join(lines, "")
	return "without the last line of " + rel
}

// use is a use of a name of a project, with its definition.
type use struct {
	name        string
	def, defAt  string // path:line
	useAt       string
	package_    string
	occurrences int
}

// namesOf finds names that are defined once in the texts of a project, and used in another file.
func namesOf(files map[string]string, define *regexp.Regexp, uses func(u use) *regexp.Regexp) (all []use) {
	known := map[string]*use{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		for n, line := range strings.Split(files[file], "\n") {
			if m := define.FindStringSubmatch(line); m != nil {
				if known[m[1]] == nil {
					known[m[1]] = &use{name: m[1], def: file, defAt: fmt.Sprintf("%s:%d", file, n+1), package_: filepath.Base(filepath.Dir(file))}
				}
				known[m[1]].occurrences++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		u := known[name]
		if u.occurrences != 1 {
			continue
		}
		pattern, imported := uses(*u), regexp.MustCompile(`(?s)import [^;]*\b`+u.name+`\b`)
		for _, file := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(file, ".ts") && !imported.MatchString(files[file]) {
				continue // a global of that name
			}
			for n, line := range strings.Split(files[file], "\n") {
				if file != u.def && u.useAt == "" && pattern.MatchString(line) {
					u.useAt = fmt.Sprintf("%s:%d", file, n+1)
				}
			}
		}
		if u.useAt != "" {
			all = append(all, *u)
		}
	}
	return all
}

// textsBelow returns the texts of files below a folder.
func textsBelow(t *testing.T, dir, prefix string, wanted func(name string) bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err == nil && e.Type().IsRegular() && wanted(rel) {
			data, err := os.ReadFile(path)
			out[filepath.Join(prefix, rel)] = string(data)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTwoHundredNames asks for the definitions and uses of names in real projects: this program and its extension. The
// right place comes first, for 98 of 100.
func TestTwoHundredNames(t *testing.T) {
	right, asked := 0, 0
	for _, c := range []struct {
		server string
		files  func() map[string]string
		define *regexp.Regexp
		uses   func(u use) *regexp.Regexp
		most   int
	}{
		{"gopls", func() map[string]string {
			return textsBelow(t, "../..", "", func(name string) bool {
				return name == "go.mod" || name == "go.sum" || (strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "docs/") || strings.HasPrefix(name, "editors/vscode/embed")) && !strings.Contains(name, "_test.go") && !strings.Contains(name, "/testdata/")
			})
		}, regexp.MustCompile(`^func ([A-Z]\w+)\(`), func(u use) *regexp.Regexp {
			return regexp.MustCompile(`(^|[^.\w])` + u.package_ + `\.` + u.name + `\(`)
		}, 50},
		{"typescript-language-server", func() map[string]string {
			return textsBelow(t, "../../editors/vscode", "", func(name string) bool {
				return name == "tsconfig.json" || name == "package.json" || strings.HasPrefix(name, "src/")
			})
		}, regexp.MustCompile(`^export (?:async )?(?:function|class) (\w+)`), func(u use) *regexp.Regexp { return regexp.MustCompile(`(^|[^.\w])` + u.name + `\(`) }, 50},
	} {
		files := c.files()
		b, _ := withServer(t, c.server, files)
		names := namesOf(files, c.define, c.uses)
		t.Logf("%s: %d names, %d files", c.server, len(names), len(files))
		for _, u := range names[:min(len(names), c.most)] {
			for tool, at := range map[string]string{"find_definition": u.useAt, "find_references": u.def} {
				asked++
				got := b.call(tool, m{"symbol": u.name, "at": at}).ForModel
				ok := strings.HasPrefix(got, u.defAt+":")
				if tool == "find_references" { // all places in the file of the definition come first
					ok = strings.HasPrefix(got, u.def+":") && strings.Contains("\n"+got, "\n"+u.defAt+":") && (strings.Contains(got, u.useAt+":") || strings.Contains(got, "truncated"))
				}
				if ok {
					right++
				} else {
					t.Logf("%s %s of %s at %s: %.300q, want %s and %s", c.server, tool, u.name, at, got, u.defAt, u.useAt)
				}
			}
		}
		for _, args := range []m{{"symbol": "noSuchNameAnywhere"}, {"symbol": "noSuchNameAnywhere", "at": names[0].def}, {"symbol": names[0].name, "at": names[0].def + ":99999"}} {
			if got := b.call("find_definition", args); !got.Failed || !regexp.MustCompile(`search_files|the text has no|there is no`).MatchString(got.ForModel) {
				t.Errorf("%v: %+v", args, got)
			}
		}
	}
	t.Logf("%d of %d places are right", right, asked)
	if asked == 0 || right*100 < asked*98 {
		t.Error("these are less than 98 of 100")
	}
}
