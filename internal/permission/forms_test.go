package permission

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/footprint"
)

// form is a line that runs a file.
type form struct {
	line, file string
	more       map[string]string // further files
}

// around are lines with a place for one that runs a file.
var around = []string{
	"%s", "timeout 5 %s", "timeout -s KILL 5 %s", "env X=1 %s", "nice -n 5 %s", "nohup %s", "command %s", "exec %s", "{ %s; }", "( %s )", "if true; then %s; fi",
	"for i in 1 2; do %s; done", "while true; do %s; break; done", "run() { %s; }; run", "true && %s", "false || %s", "%s > log 2>&1", "%s | tee log", "! %s", "%s & wait",
	"bash -c '%s'", "X=1 %s", "time %s", "stdbuf -oL %s", "out=$(%s)", "echo `%s`", "case x in x) %s;; esac", "cat <(%s)", "setsid -w %s", "xargs %s </dev/null", "find . -maxdepth 0 -exec %s \\;",
	"trap '%s' EXIT", "eval '%s'", "cd . && %s",
}

// inner are the lines that are put into those of around.
var inner = []string{"sh t/h", ". t/h", "sh ./t/../t/h"}

// forms returns all lines.
func forms() []form {
	var all []form
	for _, in := range inner {
		for _, out := range around {
			all = append(all, form{line: fmt.Sprintf(out, in), file: "t/h"})
		}
	}
	for _, line := range []string{
		"sh < t/h", "cat t/h | sh", "cat t/h | bash -s", `eval "$(cat t/h)"`, `sh -c "$(cat t/h)"`, "source t/h", `source <(cat t/h)`, "D=t; sh $D/h", `D=t; N=h; sh "$D/$N"`, "sh t/*", "sh t/?", `sh t"/"h`, `sh 't'/h`, `sh t\/h`,
		`sh $'\x74/h'`, "cd t && sh h", "(cd t; sh ./h)", "pushd t; sh h", "sh <<E\n. t/h\nE", "sh <<< '. t/h'", "echo t/h | xargs sh", "find t -name h -exec sh {} +", "find t | xargs -n1 sh", "for f in t/*; do sh $f; done", "cp t/h x; sh x", "cat t/h > x; sh x",
		"ln -s t/h x; sh ./x", "sh ${D:-t}/h", "sh {t,u}/h", "S=sh; $S t/h", "bash --rcfile t/h -i", "BASH_ENV=t/h bash -c true", "env -S 'sh t/h'", "awk 'BEGIN { system(\"sh t/h\") }'", "python3 -c 'import os; os.system(\"sh t/\" + \"h\")'",
		"make -f t/h", "make -ft/h x", "git -c core.hooksPath=t commit -m x", "git -c alias.x='!sh t/h' x", "GIT_SSH_COMMAND='sh t/h' git fetch", "PATH=t:$PATH h", "mytool t/h", "xargs -a t/h -n1 sh -c", "busybox sh t/h", "dash t/h", "zsh t/h", "ksh t/h", "sh -- t/h", "sh -eu t/h", "sh -o pipefail t/h", "parallel sh ::: t/h", "watch sh t/h", "tclsh t/h",
		"node -e \"require('./t/h')\"", "ruby -e 'load \"t/h\"'", "perl -e 'do \"./t/h\"'", "perl t/h", "ruby t/h", "node t/h", "php t/h", "lua t/h", "python3 t/h", "alias x='sh t/h'; x", "printf '. t/h' | sh", "tar --to-command='sh t/h' -xf x.tar", "vim -S t/h", "gdb -x t/h", "expect t/h",
	} {
		all = append(all, form{line: line, file: "t/h"})
	}
	return append(append(all, named()...), moreForms()...)
}

// named returns lines whose words do not name the file that they run.
func named() []form {
	pkg := func(script string) map[string]string {
		return map[string]string{"package.json": `{"scripts":{"lint":"` + script + `"}}`}
	}
	hook := map[string]string{"t/pre-commit": "npm run -s lint\n", "package.json": "{}"}
	return []form{
		{"npm run -s lint", "package.json", nil},
		{"npm test", "package.json", nil},
		{"npm run lint", "t/h", pkg("sh t/h")},
		{"npm run lint", "t/h.js", pkg("node t/h")},
		{"yarn lint", "package.json", nil},
		{"pnpm lint", "package.json", nil},
		{"bun run lint", "package.json", nil},
		{"npx lint", "node_modules/.bin/lint", nil},
		{"yarn lint", "node_modules/.bin/lint", nil},
		{"npm run lint", "node_modules/.bin/lint", pkg("lint .")},
		{"deno task x", "deno.json", nil},
		{"deno run t/h", "t/h", nil},
		{"bun t/h", "t/h.ts", nil},
		{"npx eslint .", "eslint.config.js", nil},
		{"python3 -m mod", "mod.py", nil},
		{"python3 -m mod", "mod/__main__.py", nil},
		{"python3 -m mod", "helper.py", map[string]string{"mod.py": "import helper\n"}},
		{"python3 t.py", "helper.py", map[string]string{"t.py": "from helper import x\n"}},
		{"python3 t.py", "deep.py", map[string]string{"t.py": "import helper\n", "helper.py": "import deep\n"}},
		{"node -e \"require('./t')\"", "t.js", nil},
		{"node t", "t.js", nil},
		{"node t.js", "lib/x.js", map[string]string{"t.js": "require('./lib/x')\n"}},
		{"node t.js", "lib/y.js", map[string]string{"t.js": "require('./lib/x')\n", "lib/x.js": "require('./y')\n"}},
		{"node -r ./t x.js", "t.js", map[string]string{"x.js": ""}},
		{"ruby -r ./t x.rb", "t.rb", map[string]string{"x.rb": ""}},
		{"ruby x.rb", "t.rb", map[string]string{"x.rb": "require_relative 't'\n"}},
		{"perl -I t x.pl", "t/M.pm", map[string]string{"x.pl": "use M;\n"}},
		{"make -s h", "Makefile", nil},
		{"make h", "t/h", map[string]string{"Makefile": "h:\n\tsh t/h\n"}},
		{"make h", "sub/Makefile", map[string]string{"Makefile": "h:\n\t$(MAKE) -C sub\n"}},
		{"make h", "package.json", map[string]string{"Makefile": "h:\n\tnpm run lint\n"}},
		{"just h", "justfile", nil},
		{"task h", "Taskfile.yml", nil},
		{"rake h", "Rakefile", nil},
		{"rake h", "lib/tasks/h.rake", nil},
		{"./gradlew h", "build.gradle", map[string]string{"gradlew": "exec java\n"}},
		{"./gradlew h", "gradlew", nil},
		{"./mvnw h", "pom.xml", map[string]string{"mvnw": "exec java\n"}},
		{"cmake --build b", "CMakeLists.txt", nil},
		{"cmake -P t/h", "t/h", nil},
		{"ninja", "build.ninja", nil},
		{"go run ./x", "x/main.go", nil},
		{"go generate ./...", "x/main.go", nil},
		{"go test ./...", "x/x_test.go", nil},
		{"cargo run", "src/main.rs", nil},
		{"cargo test", "build.rs", nil},
		{"cargo xtask", ".cargo/config.toml", nil},
		{"pytest", "conftest.py", nil},
		{"pytest", "tests/test_x.py", nil},
		{"python3 -m pytest", "tests/test_x.py", nil},
		{"tox", "tox.ini", nil},
		{"jest", "src/x.test.js", nil},
		{"mvn test", "src/X.java", nil},
		{"dotnet test", "X.cs", nil},
		{"sh run", "lib.sh", map[string]string{"run": "here=$(dirname \"$0\")\n. \"$here/lib.sh\"\n"}},
		{"sh run", "c/d", map[string]string{"run": "sh a/b\n", "a/b": "sh c/d\n"}},
		{"sh run", "Makefile", map[string]string{"run": "make all\n"}},
		{"./run", "x/main.go", map[string]string{"run": "go run ./x\n"}},
		{"sh run", "sub/x.sh", map[string]string{"run": "cd sub && ./x.sh\n"}},
		{"git commit -m x", ".git/hooks/pre-commit", nil},
		{"git commit -m x", "t/pre-commit", nil},
		{"git commit -m x", "package.json", hook},
		{"git commit -m x", "Makefile", map[string]string{"t/pre-commit": "make lint\n"}},
		{"git status", "f/monitor", nil},
		{"git add a", "f/clean", nil},
		{"git diff", "f/external", nil},
		{"git log", "f/pager", nil},
		{"git x", "f/alias", nil},
		{"make c", "t/pre-commit", map[string]string{"Makefile": "c:\n\tgit commit -m x\n"}},
	}
}

// fill makes the folder of a form: a repository whose settings name programs.
func (f form) fill(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "--template=", dir).CombinedOutput(); err != nil {
		t.Fatalf("git: %v %s", err, out)
	}
	settings := "[core]\n\tfsmonitor = f/monitor\n\tpager = sh f/pager\n[filter \"x\"]\n\tclean = sh f/clean\n[diff]\n\texternal = f/external\n[alias]\n\tx = !sh f/alias\n"
	if f.file != ".git/hooks/pre-commit" {
		settings += "[core]\n\thooksPath = t\n"
	}
	config, err := os.OpenFile(filepath.Join(dir, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = config.WriteString(settings)
		err = errors.Join(err, config.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	scratch.Fill(t, dir, f.more)
	scratch.Write(t, filepath.Join(dir, "README"), "x\n")
	scratch.Mkdir(t, filepath.Dir(filepath.Join(dir, f.file)))
	scratch.Write(t, filepath.Join(dir, f.file), "true\n")
	return dir
}

// change writes another content of the file, as it happens.
func (f form) change(t *testing.T, p *Policy, dir, how string) {
	t.Helper()
	path := filepath.Join(dir, f.file)
	req := rewriting(path, "true\n", "touch ran\n")
	switch how {
	case "unseen":
		if v, decided := p.Decide(req); !decided || v.Decision != confirm.Approve {
			t.Fatal("the edit is asked about")
		}
	case "seen":
		p.Approved(req, confirm.Verdict{Decision: confirm.Approve})
	}
	if err := os.WriteFile(path, []byte("touch ran\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNothingUnseenRuns: whatever the form of a line, a file that it runs and that changed without
// a person seeing that is asked about, in a command that was allowed for the session, one that a
// rule of the session covers, a hook and a server.
func TestNothingUnseenRuns(t *testing.T) {
	scratch.Need(t, "git")
	all := forms()
	if len(all) < 200 {
		t.Fatalf("%d forms", len(all))
	}
	cases, asks := 0, map[string]int{}
	seed, step := stress.Seed(t), stress.Size(9, 1)
	for i, f := range all {
		if (uint64(i)+seed)%uint64(step) != 0 {
			continue
		}
		for _, how := range []string{"unseen", "pull", "seen", "nothing"} {
			dir := f.fill(t)
			p := New(AcceptEdits)
			what := footprint.Command{Line: f.line, Dir: dir}
			server := footprint.Words(dir, []string{"sh", "-c", f.line}, nil)
			p.Grant(running(f.line, dir))
			watched, started := p.Watch(what, footprint.Sources, ""), p.Watch(server, footprint.Sources, "")
			rule, held := p.session(t, f.line, dir)
			digest := digestOf(server)
			if how != "nothing" {
				f.change(t, p, dir, how)
			}
			_, granted := p.Decide(running(f.line, dir))
			ruled := false
			if held {
				_, ruled = p.Decide(rule)
			}
			for by, free := range map[string]bool{
				"a grant": granted, "a rule": ruled, "a hook": watched.Changed() == "", "a server": started.Changed() == "", "a server's digest": digestOf(server) == digest,
			} {
				cases++
				switch {
				case free && how != "nothing" && (how != "seen" || by == "a server's digest"):
					t.Errorf("%q with %s changed (%s) runs unasked as %s", f.line, f.file, how, by)
				case !free && (how == "seen" || how == "nothing"):
					asks[by+", "+how]++
					if by == "a hook" {
						t.Logf("%q is asked about as a hook, %s changed (%s): %s", f.line, f.file, how, watched.Changed())
					}
				}
			}
			for _, w := range p.watched {
				w.yes.record.Close()
			}
		}
	}
	t.Logf("load: %d forms, %d cases; asked though all was seen: %v", len(all), cases, asks)
	for by, n := range asks {
		if strings.HasSuffix(by, "nothing") && strings.HasPrefix(by, "a hook") || by == "a server, nothing" {
			t.Errorf("%s: %d are asked about without a change", by, n)
		}
	}
}

// session makes a rule of the session for a line, if it can have one.
func (p *Policy) session(t *testing.T, line, dir string) (confirm.Request, bool) {
	t.Helper()
	words := strings.Fields(line)
	req := making(dir, words...)
	r, err := ParseRule(Allow, "run("+joinWords(words)+")", "your answer")
	if err != nil {
		return req, false
	}
	confirm.As[*confirm.Command](req).Background = true // which the grant does not cover
	return req, p.Hold(req, r) == nil
}

func digestOf(c footprint.Command) string {
	f := footprint.Of(c)
	defer f.Close()
	return f.Digest()
}
