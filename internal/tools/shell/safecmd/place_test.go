package safecmd

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// here returns a place with programs in a folder that the agent cannot write.
func here(t *testing.T) Place {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no line is safe on Windows")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	scratch.Write(t, filepath.Join(work, "main.go"), "package main\n")
	scratch.Write(t, filepath.Join(work, "src/a.go"), "package src\n")
	scratch.Write(t, filepath.Join(work, "deploy/.env"), "KEY=x\n")
	scratch.Write(t, filepath.Join(work, "deploy/main.go"), "package x\n")
	scratch.Write(t, filepath.Join(dir, "outside/file"), "x\n")
	for name, to := range map[string]string{"out": "../outside", "key": "deploy/.env", "in": "src/a.go"} {
		if err := os.Symlink(to, filepath.Join(work, name)); err != nil {
			t.Fatal(err)
		}
	}
	return Place{Dir: work, Roots: []string{work}, Path: "/usr/bin:/bin"}
}

// TestPlace: the files of a line, and the places of its programs, can need a question too.
func TestPlace(t *testing.T) {
	p := here(t)
	for line, why := range map[string]string{
		"cat main.go":             "",
		"cat src/../main.go":      "",
		"cat missing":             "",
		"cat in":                  "",
		"ls":                      "",
		"ls -la deploy":           "",
		"find . -name '.env'":     "",
		"grep -rn x src":          "",
		"echo hi && pwd":          "",
		"cat < main.go":           "",
		"cat " + p.Dir + "/in":    "",
		"cat ../outside/file":     "../outside/file is outside of the folder",
		"cat /etc/hostname":       "/etc/hostname is outside of the folder",
		"ls /":                    "/ is outside of the folder",
		"ls | cat - /etc/passwd":  "/etc/passwd is outside of the folder",
		"wc < /etc/passwd":        "/etc/passwd is outside of the folder",
		"cat out/file":            "out/file is outside of the folder",
		"cat key":                 "key is a place that may contain passwords or keys",
		"grep -rn x .":            "deploy/.env is a place that may contain passwords or keys",
		"grep -rn x":              "deploy/.env is a place that may contain passwords or keys",
		"grep --recursive x -- .": "deploy/.env is a place that may contain passwords or keys",
	} {
		j := p.Judge(line)
		switch {
		case why == "" && j.Class != Safe:
			t.Errorf("%s: %s: %q", line, j.Class, j.Reasons())
		case why != "" && (j.Class != Ask || strings.Join(j.Reasons(), "") != why):
			t.Errorf("%s: %s: %q, want %q", line, j.Class, j.Reasons(), why)
		case why != "" && j.Script() != "":
			t.Errorf("%s: it can be run as %s", line, j.Script())
		}
	}
}

// TestHiddenFiles: rg leaves them out, unless it is told otherwise.
func TestHiddenFiles(t *testing.T) {
	p := here(t)
	bin := filepath.Join(p.Dir, "../bin")
	for line, want := range map[string]Class{"rg x": Safe, "rg --files": Safe, "rg --hidden x": Ask, "rg -uu x": Ask, "rg -g .env x": Ask} {
		j := Classify(line)
		if j.Class != Safe {
			t.Fatalf("%s: %q", line, j.Reasons())
		}
		if why := p.reads(j.steps[0]); (why == "") != (want == Safe) {
			t.Errorf("%s: %q", line, why)
		}
		j.steps[0].name = filepath.Join(bin, "rg")
		if leaves := strings.Contains(j.Script(), "'!.*'"); leaves != (want == Safe) {
			t.Errorf("%s becomes %s", line, j.Script())
		}
	}
}

// TestPrograms: a program that the agent, or everybody, can replace is not run unasked.
func TestPrograms(t *testing.T) {
	p := here(t)
	p.Path = "bin:" + p.Path
	if j := p.Judge("ls"); j.Class != Safe || j.Script() == "ls" || !strings.HasPrefix(j.Script(), "'/") {
		t.Errorf("%s, %q", j.Class, j.Script())
	}
	scratch.Program(t, filepath.Join(p.Dir, "bin/ls"), "#!/bin/sh\n")
	want := "ls is " + p.Dir + "/bin/ls, which commands and edits can replace"
	if j := p.Judge("ls"); j.Class != Ask || j.Reasons()[0] != want {
		t.Errorf("%s: %q", j.Class, j.Reasons())
	}
	p.Path = filepath.Join(p.Dir, "../outside")
	if j := p.Judge("ls"); j.Class != Ask || j.Reasons()[0] != "ls is not installed" {
		t.Errorf("%s: %q", j.Class, j.Reasons())
	}
}

// TestScript: the line that is run has the words that were judged, and git's options.
func TestScript(t *testing.T) {
	p := here(t)
	for line, want := range map[string]string{
		"echo hi":                            "echo 'hi'",
		`printf "it's\n" ; pwd && true||pwd`: `printf 'it'"'"'s\n' ; pwd && true || pwd`,
		"cat main.go 2>/dev/null 2>&1 | pwd": "'CAT' 'main.go' 2>/dev/null 2>&1 | pwd",
		"cat < main.go":                      "'CAT' <'main.go'",
	} {
		got := p.Judge(line).Script()
		got = strings.NewReplacer("/usr/bin/cat", "CAT", "/bin/cat", "CAT").Replace(got)
		if got != want {
			t.Errorf("%s becomes %s, want %s", line, got, want)
		}
	}
	j := Classify("git log -1")
	j.steps[0].name = "/usr/bin/git"
	if got := j.Script(); !strings.HasPrefix(got, "'/usr/bin/git' '--no-pager' ") || !strings.Contains(got, "'core.fsmonitor=false'") || !strings.HasSuffix(got, " 'log' '--no-ext-diff' '--no-textconv' '-1'") {
		t.Error(got)
	}
}

// TestAbsoluteNamesOfTheProject: a file of the project is the same by its absolute name.
func TestAbsoluteNamesOfTheProject(t *testing.T) {
	p := here(t)
	for line, want := range map[string]Class{
		"rm W/main.go":                   Ask,
		"rm -- W/src/a.go":               Ask,
		"cp main.go W/src/b.go":          Ask,
		"make > W/build.log":             Ask,
		"make | tee W/build.log":         Ask,
		"sh -c 'rm W/main.go'":           Ask,
		"rm -rf W/src":                   Danger,
		"rm W":                           Danger,
		"rm W/../x":                      Danger,
		"rm W/*":                         Danger,
		"rm /etc/passwd":                 Danger,
		"rm Wx":                          Danger,
		"make > W/../../../../etc/x":     Danger,
		"make > W/.git/config":           Danger,
		"cp main.go W/../../../../etc/x": Danger,
		"ls && rm W/src/../../x.go":      Danger,
	} {
		if j := p.Judge(strings.ReplaceAll(line, "W", p.Dir)); j.Class != want {
			t.Errorf("%s: %s, want %s: %q", line, j.Class, want, j.Reasons())
		}
	}
}

// TestRulesFollowNoLinks: an argument for the * of a rule stays in the project.
func TestRulesFollowNoLinks(t *testing.T) {
	p := here(t)
	for name, to := range map[string]string{"etc": "/etc", "new": "/etc/missing", "deep/er": "../..", "near": "src"} {
		if err := os.MkdirAll(filepath.Join(p.Dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(p.Dir, name)); err != nil {
			t.Skip(err)
		}
	}
	for line, want := range map[string]bool{
		"touch main.go": true, "touch src/new.go": true, "touch near/a.go": true, "touch deep/new/x": true, "touch none/at/all": true,
		"touch etc/x": false, "touch etc": false, "touch new": false, "touch main.go etc/passwd": false, "touch ./src/../etc/x": false, "touch deep/er/x": false, "touch near/../etc/x": false,
	} {
		rules := map[string]bool{"run(touch *)": want, "run(touch **)": true, "run(" + line + ")": true}
		for text, want := range rules {
			r, err := permission.ParseRule(permission.Allow, text, "")
			if err != nil {
				t.Fatal(err)
			}
			part := p.Judge(line).CommandPart(0, false)
			if got := (permission.Rules{r}).Covering(p.Dir, part).Effect == permission.Allow; got != want {
				t.Errorf("%s covers %s: %v", text, line, got)
			}
		}
	}
}

// TestFoundFiles: a program that find or xargs starts reads each file that is found.
func TestFoundFiles(t *testing.T) {
	p := here(t)
	link := func(name, to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(p.Dir, name)); err != nil {
			t.Skip(err)
		}
	}
	check := func(line string, want Class) {
		t.Helper()
		if j := p.Judge(line); j.Class != want {
			t.Errorf("%s: %s, want %s: %q", line, j.Class, want, j.Reasons())
		}
	}
	check("find src -exec cat {} +", Safe)
	check("find src | xargs cat", Safe)
	check("find . -exec cat {} +", Ask) // there is a .env
	check("find . | xargs cat", Ask)
	check("find . -name '*.go' -exec cat {} +", Safe)
	check("find . -exec cat {} + -name '*.go'", Ask)
	check("find . -name '*.go' -o -name '*.md' -exec cat {} +", Ask)
	for _, line := range []string{ // words that only look like a test of the name
		"find . -newer -name -exec cat {} +", "find . -path -name -exec cat {} +", "find . -newer -name -exec cat {} + -name x", "find . -newer -name -name '*' -exec cat {} +", "find . -type f -newer -name | xargs cat",
		"find . -print -name '*.go' | xargs cat", "find . -name '*.go' , -name .env -exec cat {} +", "find . ! -name '*.go' -exec cat {} +", "find . -printf x -name '*.go' -exec cat {} +",
	} {
		check(line, Ask)
	}
	check("find . -exec ls {} +", Ask) // a link leads out
	check("find deploy -exec ls {} +", Safe)
	check("find /etc -exec cat {} +", Ask)
	check("find .. -name '*.go' | xargs cat", Ask)
	j := p.Judge("find src -exec cat {} + | head")
	if want := "bin/cat'"; !strings.Contains(j.Script(), want) {
		t.Errorf("it runs as %s, without %s", j.Script(), want)
	}
	link("src/passwd.go", "/etc/passwd")
	check("find src -name '*.go' -exec cat {} +", Ask)
	check("find src -name '*.md' -exec cat {} +", Safe)
	check("find src -exec stat {} +", Ask)
	link("deploy/near.go", "../main.go")
	check("find deploy -name '*.go' | xargs cat", Safe)
	scratch.Write(t, filepath.Join(p.Dir, "deploy/a b.go"), "x\n")
	check("find deploy -name '*.go' | xargs cat", Ask)
	check("find deploy -name '*.md' | xargs cat", Safe)
	check("find deploy -name '*.go' -print0 | xargs -0 cat", Safe)
	check("find deploy -name '*.go' | xargs -d '\\n' cat", Safe)
}

// TestPatterns: a pattern becomes the names that it matches, each of which is judged.
func TestPatterns(t *testing.T) {
	p := here(t)
	for _, name := range []string{"src/b.py", "src/c d.py", "src/.h.py", "x1.txt", "x2.txt", "deploy/server.key", "opt/-rf", "opt/a"} {
		scratch.Write(t, filepath.Join(p.Dir, name), "x\n")
	}
	for line, want := range map[string]string{
		"cat src/*.py":                   "cat src/b.py|src/c d.py",
		"cat ./src/?.py":                 "cat ./src/b.py",
		"grep -n x */a.go src/*":         "grep -n|x|src/a.go|src/a.go|src/b.py|src/c d.py",
		"cat x[12].txt":                  "cat x1.txt|x2.txt",
		"cat src/.*.py":                  "cat src/.h.py",
		"cat 'src'/*.py":                 "cat src/b.py|src/c d.py",
		"grep -rn x --include=*.go src":  "grep -rn|x|--include=*.go|src",
		"ls *.none":                      "ls *.none",
		"ls opt/*":                       "ls opt/-rf|opt/a",
		"cd W/src && cat *.py":           "cat b.py|c d.py",
		"cd W/src && cat a.go\ncat *.py": "cat a.go;cat b.py|c d.py",
		"cat *.txt | wc -l # all":        "cat x1.txt|x2.txt;wc -l",
		"cat *":                          "", // folders, and links that lead out
		"cat deploy/*":                   "", // a key
		"cat key*":                       "",
		"cat out/*":                      "",
		"ls /etc/*":                      "",
		"ls ../*":                        "",
		"cd W/s* && cat *.py":            "",
		"cd opt && cat *":                "",
		"cd W/opt && wc *":               "", // -rf would be options
		"cat src/{a,b}*":                 "",
		"cat src/[!a].py":                "",
		"cat $x*.py":                     "",
		"make src/*.py":                  "",
		"cat src/*.py > all":             "",
		"cat ~/*":                        "",
	} {
		j := p.Judge(strings.ReplaceAll(line, "W", p.Dir))
		var got []string
		for _, s := range j.steps {
			if s.operator == "" && j.Class == Safe {
				got = append(got, filepath.Base(s.name)+" "+strings.Join(s.args, "|"))
			}
		}
		if strings.Join(got, ";") != want {
			t.Errorf("%s: %q (%s, %q), want %q", line, got, j.Class, j.Reasons(), want)
		}
	}
}

// TestUntriedOfRepositories: a command that tells about a repository runs in a copy; one that changes it does not, nor one that
// shows texts of its files.
func TestUntriedOfRepositories(t *testing.T) {
	p := here(t)
	config := filepath.Join(p.Dir, ".git/config")
	scratch.Write(t, config, "[remote \"origin\"]\n\turl = https://example.com/x\n[filter \"lfs\"]\n\tclean = git-lfs clean\n")
	for line, tried := range map[string]bool{
		"git submodule status": true, "git submodule status --recursive": true, "git worktree list --porcelain": true, "git remote -v": true, "git remote get-url origin": true,
		"git status --short": true, "git diff --stat": true, "git log --format=%s -3 | head": true, "cd src && git status": true, "git ls-files": true,
		"git diff": false, "git log -p": false, "git show HEAD": false, "git blame a": false, "git grep x": false, "git diff --stat && cat deploy/.env": false,
		"git bisect log": true, "git fsck": true, "git notes list": true, "git submodule status | head": true,
		"git submodule update": false, "git submodule foreach make": false, "git submodule": false, "git worktree add x": false, "git remote add x y": false, "git remote show origin": false,
		"git config user.name x": false, "git config -l": false, "git bisect run make": false, "git notes show": false, "git -C x submodule status": false, "git -c core.pager=x remote -v": false,
		"git archive HEAD": false, "git format-patch -1 --stdout": false, "git submodule status && git push": false, "git commit -m 'submodule status'": false,
	} {
		if why := p.Untried(p.Judge(line)); (why == "") != tried {
			t.Errorf("%s: %q", line, why)
		}
	}
	scratch.Write(t, config, "[remote \"origin\"]\n\turl = https://user:hidden@example.com/x\n")
	if why := p.Untried(p.Judge("git remote -v")); !strings.Contains(why, ".git/config") {
		t.Errorf("with a password in an address: %q", why)
	}
}
