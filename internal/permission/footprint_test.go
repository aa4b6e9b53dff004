package permission

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func running(line, dir string) confirm.Request {
	return confirm.Request{Tool: "execute_command", Subject: &confirm.Command{Line: line, Dir: dir}}
}

// TestAGrantLapses: a command that was allowed for the session is asked about again once
// it runs something else, and the question explains why.
func TestAGrantLapses(t *testing.T) {
	for name, tt := range map[string]struct {
		line   string
		change func(t *testing.T, dir string)
		want   string // empty: still granted
	}{
		"nothing":      {"make test", func(*testing.T, string) {}, ""},
		"another file": {"make test", func(t *testing.T, dir string) { scratch.Write(t, filepath.Join(dir, "main.go"), "package x") }, ""},
		"the same again": {"make test", func(t *testing.T, dir string) {
			scratch.Write(t, filepath.Join(dir, "Makefile"), "test:\n\t./tool -x\n")
		}, ""},
		"the Makefile": {"make test", func(t *testing.T, dir string) {
			scratch.Write(t, filepath.Join(dir, "Makefile"), "test:\n\trm -rf /\n")
		}, "Makefile has changed"},
		"a new manifest":      {"make test", func(t *testing.T, dir string) { scratch.Write(t, filepath.Join(dir, "GNUmakefile"), "test:\n\tevil\n") }, "GNUmakefile is new"},
		"one above":           {"cd sub && make test", func(t *testing.T, dir string) { scratch.Write(t, filepath.Join(dir, "sub/Makefile"), "x:") }, "sub/Makefile is new"},
		"what the file runs":  {"make test", func(t *testing.T, dir string) { scratch.Program(t, filepath.Join(dir, "tool"), "#!/bin/sh\nevil\n") }, "tool has changed"},
		"a script":            {"sh run.sh --fast", func(t *testing.T, dir string) { scratch.Write(t, filepath.Join(dir, "run.sh"), "evil") }, "run.sh has changed"},
		"a script's script":   {"sh run.sh", func(t *testing.T, dir string) { scratch.Write(t, filepath.Join(dir, "lib.sh"), "evil") }, "lib.sh has changed"},
		"behind an equals":    {"FILE=run.sh sh \"$FILE\"", func(t *testing.T, dir string) { scratch.Write(t, filepath.Join(dir, "run.sh"), "evil") }, "run.sh has changed"},
		"by a pattern":        {"for f in *.sh; do sh $f; done", func(t *testing.T, dir string) { scratch.Write(t, filepath.Join(dir, "more.sh"), "evil") }, "more.sh is new"},
		"a script that went":  {"sh run.sh", func(t *testing.T, dir string) { remove(t, dir, "run.sh") }, "run.sh is gone"},
		"in a folder":         {"cd sub; ./x", func(t *testing.T, dir string) { scratch.Program(t, filepath.Join(dir, "sub/x"), "evil") }, "sub/x has changed"},
		"package.json":        {"npm test", func(t *testing.T, dir string) { scratch.Write(t, filepath.Join(dir, "package.json"), "{}") }, "package.json has changed"},
		"a program in PATH":   {"tool -v", func(t *testing.T, dir string) { scratch.Program(t, filepath.Join(dir, "../bin/tool"), "evil") }, "tool is "},
		"one that goes first": {"later", func(t *testing.T, dir string) { scratch.Program(t, filepath.Join(dir, "../bin/later"), "evil") }, "later is now "},
		"a program's text":    {"later", func(t *testing.T, dir string) { scratch.Program(t, filepath.Join(dir, "../last/later"), "longer text") }, filepath.FromSlash("last/later has changed")},
		"git's settings": {"git status", func(t *testing.T, dir string) {
			scratch.Write(t, filepath.Join(dir, ".git/config"), "[core]\nfsmonitor=x")
		}, ".git/config is new"},
		"a bare repository": {"git status", func(t *testing.T, dir string) { scratch.Write(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/x") }, "HEAD is new"},
		"the folder":        {"ls", func(t *testing.T, dir string) { replace(t, dir) }, "its folder has been replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir := filepath.Join(base, "work")
			t.Setenv("PATH", filepath.Join(base, "bin")+string(filepath.ListSeparator)+filepath.Join(base, "last"))
			scratch.Write(t, filepath.Join(dir, "Makefile"), "test:\n\t./tool -x\n")
			scratch.Program(t, filepath.Join(dir, "tool"), "#!/bin/sh\n")
			scratch.Write(t, filepath.Join(dir, "run.sh"), ". ./lib.sh\n")
			scratch.Write(t, filepath.Join(dir, "lib.sh"), "")
			scratch.Program(t, filepath.Join(dir, "sub/x"), "")
			scratch.Write(t, filepath.Join(dir, "package.json"), `{"scripts":{}}`)
			scratch.Program(t, filepath.Join(base, "last/later"), "")
			p := New(Default)
			p.Grant(running(tt.line, dir))
			if v, decided := p.Decide(running(tt.line, dir)); !decided || v.Decision != confirm.Approve {
				t.Fatalf("granted: %+v", v)
			}
			tt.change(t, dir)
			v, decided := p.Decide(running(tt.line, dir))
			if decided != (tt.want == "") || !strings.Contains(v.Feedback, tt.want) {
				t.Errorf("%v, %q; want %q", decided, v.Feedback, tt.want)
			}
			if decided {
				return
			}
			if len(p.Grants()) != 0 {
				t.Errorf("still granted: %v", p.Grants())
			}
			if again, _ := p.Decide(running(tt.line, dir)); again.Feedback != v.Feedback {
				t.Errorf("asked again: %q", again.Feedback)
			}
			p.Grant(running(tt.line, dir))
			if v, decided := p.Decide(running(tt.line, dir)); !decided || v.Feedback != "" {
				t.Errorf("granted anew: %+v", v)
			}
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// replace replaces dir by another folder with the same files.
func replace(t *testing.T, dir string) {
	t.Helper()
	fresh := dir + ".new"
	if err := os.CopyFS(fresh, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		t.Fatal(err)
	}
}

// TestAnUnknownFootprintIsAskedEachTime: such a line does not reveal its footprint.
func TestAnUnknownFootprintIsAskedEachTime(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{"ls | xargs sh", `eval "$X"`, "find . -name x -exec sh {} +"} {
		p := New(Default)
		p.Grant(running(line, dir))
		v, decided := p.Decide(running(line, dir))
		if decided || !strings.Contains(v.Feedback, "not known in advance") || len(p.Grants()) != 0 {
			t.Errorf("%s: %v, %q", line, decided, v.Feedback)
		}
	}
}

// TestAGrantKnowsWhatIsRun: a footprint contains programs named without their ending, modules,
// the main files of folders, and files that scripts include.
func TestAGrantKnowsWhatIsRun(t *testing.T) {
	for name, tt := range map[string]struct {
		line, file string
		files      map[string]string // besides
	}{
		"a module":                   {"python3 -m mytool", "mytool.py", nil},
		"a module behind an option":  {"python3.12 -Wd -um a.b -x", "a/b.py", nil},
		"a package":                  {"python3 -m a.b", "a/b/__main__.py", nil},
		"the package around":         {"python3 -m a.b", "a/__init__.py", map[string]string{"a/b.py": ""}},
		"a module in src":            {"python3 -m mytool", "src/mytool/__main__.py", nil},
		"a module's module":          {"python3 -m cProfile -m mytool", "mytool.py", nil},
		"a new one":                  {"python3 -m pytest", "pytest.py", nil},
		"imported code":              {`python3 -c "import mytool; mytool.run()"`, "mytool.py", nil},
		"without its ending":         {"node build", "build.js", nil},
		"behind an option":           {"node -r ./hook build", "hook.cjs", map[string]string{"build.js": ""}},
		"behind another program":     {"CI=1 timeout 5 node build", "build.mjs", nil},
		"a folder of Node":           {"node lib/", "lib/index.js", nil},
		"a folder of Python":         {"python3 pk", "pk/__main__.py", nil},
		"in a folder":                {"cd sub && node build", "sub/build.js", nil},
		"the main of a package.json": {"node lib", "lib/src/run.js", map[string]string{"lib/package.json": `{"main":"src/run"}`}},
		"a sourced file":             {"./run.sh", "lib/helper", map[string]string{"run.sh": ". lib/helper\n"}},
		"a sourced file by name":     {"./run.sh", "helper", map[string]string{"run.sh": "set -e\nsource helper\n"}},
		"an included file":           {"make all", "build/rules", map[string]string{"Makefile": "include build/rules\n"}},
		"an included file by name":   {"make all", "rules", map[string]string{"Makefile": "-include rules\n"}},
		"a program of a script":      {"npm run b", "tools/build.js", map[string]string{"package.json": `{"scripts":{"b":"node tools/build"}}`}},
		"a program by name":          {"npm run b", "build.js", map[string]string{"package.json": `{"scripts":{"b":"node build"}}`}},
		"a module of a script":       {"make all", "mytool.py", map[string]string{"Makefile": "all:\n\t@python3 -m mytool\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, tt.file)
			scratch.Fill(t, dir, tt.files)
			if name != "a new one" {
				scratch.Write(t, path, "one\n")
			}
			p := New(Default)
			p.Grant(running(tt.line, dir))
			if v, decided := p.Decide(running(tt.line, dir)); !decided {
				t.Fatalf("not granted: %q", v.Feedback)
			}
			scratch.Write(t, path, "two\n")
			if v, decided := p.Decide(running(tt.line, dir)); decided || !strings.Contains(v.Feedback, tt.file) {
				t.Errorf("%v, %q", decided, v.Feedback)
			}
		})
	}
}

// TestAnUnknownProgramIsAskedEachTime: an interpreter whose program is not found may run
// a different program each time. Installed modules, and code in the line, are known.
func TestAnUnknownProgramIsAskedEachTime(t *testing.T) {
	for line, known := range map[string]bool{
		`python3 "$X"`:                false,
		"node $(cat name)":            false,
		"sudo ruby gone":              false,
		"perl `cat name`":             false,
		"python3 -m gone":             false,
		"python3 -m pytest tests":     true,
		"python3 -m http.server 80":   true,
		"python3 --version":           true,
		"echo 1 | python3 -":          true,
		"perl -lane 'print $F[0]' x":  true,
		"npm install node typescript": true,
		"bun install":                 true,
		"grep -n python x":            true,
	} {
		p, dir := New(Default), t.TempDir()
		p.Grant(running(line, dir))
		if v, decided := p.Decide(running(line, dir)); decided != known || !known && !strings.Contains(v.Feedback, "not known in advance") {
			t.Errorf("%s: %v, %q", line, decided, v.Feedback)
		}
	}
}

// A text of many names ends the search; it is not a reason to run the command unasked.
func TestTheSearchIsBounded(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "./%x\n", i)
	}
	scratch.Write(t, filepath.Join(dir, "run.sh"), b.String())
	p := New(Default)
	p.Grant(running("sh run.sh", dir))
	if v, decided := p.Decide(running("sh run.sh", dir)); decided || !strings.Contains(v.Feedback, "too many files") {
		t.Errorf("%v, %q", decided, v.Feedback)
	}
}

// TestAnUnseenEditEndsCommandGrants: an edit that nobody was shown may have changed what
// the command runs.
func TestAnUnseenEditEndsCommandGrants(t *testing.T) {
	dir := t.TempDir()
	edit := confirm.Request{Tool: "edit_file", Subject: confirm.Edit(workspace.Change{File: workspace.File{Name: "main.go"}, After: "x"})}
	for name, unseen := range map[string]func(*Policy){
		"accept-edits": func(p *Policy) { p.Cycle() },
		"a grant":      func(p *Policy) { p.Grant(edit) },
	} {
		t.Run(name, func(t *testing.T) {
			p := New(Default)
			p.Grant(running("go test ./...", dir))
			if _, decided := p.Decide(edit); decided {
				t.Fatal("the edit was not asked about")
			}
			if _, decided := p.Decide(running("go test ./...", dir)); !decided {
				t.Fatal("an edit that somebody looks at ends the grant")
			}
			unseen(p)
			if _, decided := p.Decide(edit); !decided {
				t.Fatal("the edit was asked about")
			}
			v, decided := p.Decide(running("go test ./...", dir))
			if decided || !strings.Contains(v.Feedback, "asked again because main.go was changed without being shown") {
				t.Errorf("%v, %q", decided, v.Feedback)
			}
		})
	}
}

// The words of a commit are data: a rule for it goes on after the files changed that it
// records, unseen or not. It does not if the line runs such a file, or git's settings changed.
func TestDataOfACommit(t *testing.T) {
	for line, why := range map[string]string{
		"git add x.sh":                              "",
		"git commit -m 'mend x.sh'":                 "",
		"git add x.sh; git commit -m 'mend x.sh'":   "",
		"ls; git add x.sh":                          "",
		"git commit -m 'x=y, x.sh'":                 "x.sh was changed",
		"git add x.sh; ./x.sh":                      "x.sh was changed",
		"git add -A .gitattributes; git add Readme": ".gitattributes was changed",
	} {
		rules := []Rule{ruleOf(t, Allow, "run(git add **)"), ruleOf(t, Allow, "run(git commit **)"), ruleOf(t, Allow, "run(./x.sh)")}
		p := New(AcceptEdits, rules...)
		req := lineOf(t, line)
		dir := confirm.As[*confirm.Command](req).Dir
		for _, name := range []string{"x.sh", ".gitattributes"} {
			path := filepath.Join(dir, name)
			scratch.Write(t, path, "x\n")
			if name == "x.sh" || strings.Contains(line, name) {
				p.hide(workspace.Change{File: workspace.File{Path: path}})
			}
		}
		v, ok := p.Decide(req)
		if ok != (why == "") || !strings.Contains(v.Feedback, why) {
			t.Errorf("%s: %v, %q", line, ok, v.Feedback)
		}
	}
}

// A grant for git add lasts when the files change that it adds.
func TestAGrantForDataLasts(t *testing.T) {
	req := lineOf(t, "git add x.sh")
	p := allowing(t, req, "run(git add *)", Life{})
	path := filepath.Join(confirm.As[*confirm.Command](req).Dir, "x.sh")
	scratch.Write(t, path, "two\n")
	if v, ok := p.Decide(req); !ok {
		t.Errorf("asked again: %q", v.Feedback)
	}
	scratch.Write(t, filepath.Join(confirm.As[*confirm.Command](req).Dir, ".gitattributes"), "* filter=x\n")
	if v, ok := p.Decide(req); ok || !strings.Contains(v.Feedback, ".gitattributes is new") {
		t.Errorf("after new attributes: %v, %q", ok, v.Feedback)
	}
}
