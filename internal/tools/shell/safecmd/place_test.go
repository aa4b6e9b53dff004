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
		"cat key":                 "key is a place that usually holds keys",
		"grep -rn x .":            "deploy/.env is a place that usually holds keys",
		"grep -rn x":              "deploy/.env is a place that usually holds keys",
		"grep --recursive x -- .": "deploy/.env is a place that usually holds keys",
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
	if got := j.Script(); !strings.HasPrefix(got, "'/usr/bin/git' '--no-pager' ") || !strings.Contains(got, "'core.fsmonitor=false'") || !strings.HasSuffix(got, " 'log' '-1'") {
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
