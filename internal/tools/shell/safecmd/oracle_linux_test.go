package safecmd

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/programs"
)

// box is a repository in which safe lines are really run, traced.
type box struct {
	t      *testing.T
	place  Place
	strace string
	env    []string
}

// newBox returns a box whose git settings name a program for everything they can.
func newBox(t *testing.T) *box {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("this test needs strace: bash scripts/test-needs.sh")
	}
	p := here(t)
	p.Path = os.Getenv("PATH")
	b := &box{t: t, place: p, strace: strace, env: []string{"PATH=" + p.Path, "HOME=" + filepath.Dir(p.Dir), "LC_ALL=C.UTF-8", "TERM=dumb"}}
	for name, text := range map[string]string{
		"a.txt": "b\na\n\ntodo a\n", "b.txt": "1,2,3\n4,5,6\n", "data.json": `{"name":"x","list":[1]}`, "go.mod": "module x\n\ngo 1.99\n\ntoolchain go1.99.0-evil\n",
		".gitattributes": "* filter=evil diff=evil\n", ".rgignore": "!.env\n",
	} {
		scratch.Write(t, filepath.Join(p.Dir, name), text)
	}
	evil := filepath.Join(p.Dir, "evil")
	scratch.Program(t, evil, "#!/bin/sh\ncat >/dev/null\necho >>"+p.Dir+"/ran\nprintf '\\n[GNUPG:] SIG_CREATED x\\n' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\nx\\n-----END PGP SIGNATURE-----\\n'\n")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir, cmd.Env = p.Dir, b.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", "a.txt", "b.txt", "src")
	git("-c", "gpg.program="+evil, "commit", "-qSkey", "-m", "one")
	git("tag", "v1")
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "pager.log", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "gpg.program", "gpg.ssh.program",
		"core.sshCommand", "core.askPass", "core.editor", "core.alternateRefsCommand", "credential.helper", "sequence.editor", "uploadpack.packObjectsHook",
	} {
		git("config", key, evil)
	}
	for key, value := range map[string]string{
		"log.showSignature": "true", "format.pretty": "%G? %h", "pretty.evil": "%G?", "core.hooksPath": p.Dir, "alias.log": "!" + evil, "alias.st": "!" + evil, "tag.gpgSign": "true",
		"remote.origin.url": "ext::" + evil, "remote.origin.promisor": "true", "extensions.partialClone": "origin", "protocol.ext.allow": "always",
	} {
		git("config", key, value)
	}
	if err := os.RemoveAll(filepath.Join(p.Dir, "ran")); err != nil {
		t.Fatal(err)
	}
	return b
}

// tree describes every file of the box with its content, mode and times.
func (b *box) tree() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Dir(b.place.Dir), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		out[path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), changed(info))
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// calls are the system calls that run a program, connect or change files.
const calls = "execve,execveat,connect,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,truncate,ftruncate,chmod,fchmod,fchmodat,chown,lchown,fchownat,link,linkat,symlink,symlinkat,utimensat,mknod,mknodat"

var (
	executed = regexp.MustCompile(`execve(?:at)?\((?:AT_FDCWD, |\d+, )?"([^"]*)".*= 0$`)
	opened   = regexp.MustCompile(`open(?:at2?)?\((?:AT_FDCWD, |\d+, )?"([^"]*)", (?:\{flags=)?([A-Z_|]*)`)
	unixName = regexp.MustCompile(`AF_UNIX, sun_path="/(var/)?run/(nscd|systemd/userdb)`) // asked for the names of users
)

// run runs a safe line under strace and returns what it did besides reading.
func (b *box) run(j Judgement) (did []string) {
	b.t.Helper()
	log := filepath.Join(b.t.TempDir(), "trace")
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.strace, "-f", "-qq", "-o", log, "-e", "trace="+calls, "-e", "signal=none", "/bin/bash", "--noprofile", "--norc", "-c", j.Script())
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.place.Dir, slices.Concat(b.env, programs.Env), time.Second
	if _, err := cmd.CombinedOutput(); ctx.Err() != nil {
		return []string{"it does not end: " + err.Error()}
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		b.t.Fatal(err)
	}
	if !bytes.Contains(trace, []byte("/bin/bash")) {
		b.t.Fatalf("nothing was traced: %s", trace)
	}
	for line := range strings.Lines(string(trace)) {
		if line = strings.TrimSpace(line); b.forbidden(j, line) {
			did = append(did, line)
		}
	}
	return did
}

// forbidden reports whether a traced call does more than read.
func (b *box) forbidden(j Judgement, call string) bool {
	if m := executed.FindStringSubmatch(call); m != nil {
		names := []string{"/bin/bash"}
		for _, s := range j.steps {
			names = append(names, s.name)
			for _, at := range s.reads.Runs {
				names = append(names, s.args[at])
			}
		}
		own := strings.HasPrefix(m[1], "/usr/lib/git-core/git") || strings.HasPrefix(m[1], "/usr/libexec/git-core/git")
		return !own && !slices.Contains(names, m[1])
	}
	switch {
	case strings.Contains(call, "execve"), strings.Contains(call, "= -1 E") && !strings.Contains(call, "connect("):
		return false
	case strings.Contains(call, "connect("):
		return !unixName.MatchString(call)
	}
	if m := opened.FindStringSubmatch(call); m != nil {
		return m[1] != "/dev/null" && m[1] != "/dev/tty" && regexp.MustCompile(`O_WRONLY|O_RDWR|O_CREAT|O_TRUNC`).MatchString(m[2])
	}
	return regexp.MustCompile(`^\d+ +(` + strings.ReplaceAll(calls, ",", "|") + `)\(`).MatchString(call)
}

// files, options and texts are words for the lines of randomLine.
var (
	fileWords = strings.Fields("a.txt b.txt main.go src src/a.go data.json . missing go.mod in .gitattributes deploy/main.go")
	longWords = strings.Fields("--all --help --version --color=auto --recursive --files --hidden --json --stat --oneline --graph --format=%h --format=oneline --pretty=full --list --tags --cached --others --count --summary --show-toplevel --abbrev-ref --output=made --output --compress-program=./evil --pre=./evil --files0-from=a.txt --exec=./evil --textconv --ext-diff --show-signature --decorate --max-count=2 --name-only --reverse --unique --check --numeric-sort")
	textWords = strings.Fields("todo a x 1 2 3 -1 -5 HEAD main v1 '%s\\n' '.name' '*.txt' '1,2p' b-a , : f l d 4 GOPATH GOROOT version env log branch tag ls-files rev-parse status show-ref rev-list describe shortlog reflog ls-tree stash list -name -type -newer -delete -fprint made -printf -print -size '+1' -not -o")
)

// randomLine returns a line of known programs with random words.
func randomLine(r *rand.Rand, names []string) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			b.WriteString(pick([]string{" | ", " && ", " || ", " ; "}))
		}
		b.WriteString(pick(names))
		for range r.IntN(5) {
			b.WriteByte(' ')
			switch r.IntN(5) {
			case 0, 1:
				b.WriteString(pick(fileWords))
			case 2:
				letters := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				b.WriteString("-" + string(letters[r.IntN(len(letters))]))
				if r.IntN(3) == 0 {
					b.WriteByte(letters[r.IntN(len(letters))])
				}
			case 3:
				b.WriteString(pick(longWords))
			case 4:
				b.WriteString(pick(textWords))
			}
		}
		if r.IntN(6) == 0 {
			b.WriteString(pick([]string{" 2>/dev/null", " 2>&1", " >/dev/null", " < a.txt"}))
		}
	}
	return b.String()
}

// writing are lines that write when they are run in a box: none is safe.
var writing = []string{
	"sort -o made a.txt", "sort -omade a.txt", "sort -uo made a.txt", "sort a.txt -o made", "sort --output=made a.txt", "sort --outp made a.txt", "sort -k 1 -o made a.txt", "cat a.txt | sort -o made",
	"uniq a.txt made", "tree -o made", "find . -maxdepth 0 -fprint made", "find a.txt -exec touch made ;", "sed -n '1w made' a.txt", "sed -n -i p a.txt", "git log --output=made", "git branch made", "git tag made",
	"rg --pre ./evil todo", "sort -S 1 --compress-program=./evil a.txt", "date -s 2020-01-01", "diff --output=made a.txt b.txt", "jq -n 'input' --output made", "file -C -m a.txt",
}

// randomStarter returns a line in which find or xargs starts a program.
func randomStarter(r *rand.Rand, names []string) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	inner := pick("grep -n todo", "grep -l a", "cat", "wc -l", "head -2", "head -n 1", "sed -n 1,2p", "ls -l", "stat", "file", "md5sum", "sort", "uniq", "cut -d, -f1", "diff", "jq .name", "strings", "tail -n 1", pick(names...), pick(names...)+" -"+pick("o", "r", "f", "n", "c", "i"))
	where := pick(".", "src", "src deploy", "a.txt", "data.json", ".", "src") + pick("", " -type f", " -name '*.txt'", " -name '*.go' -type f", " -name b.txt", " -maxdepth 1 -name '*.json'", " -name '*.go' -o -name '*.txt'")
	switch r.IntN(3) {
	case 0:
		return "find " + where + " -exec " + inner + " {} " + pick("+", "\\;", "';'")
	case 1:
		return pick("find "+where, "grep -rl todo src", "grep -rl --include='*.txt' a .") + pick("", "", " | sort -u", " | head -3", " | grep -v b", " | tail -n 2") + " | xargs " + pick("", "-r ", "-n 1 ", "-n1 -P2 ", "-d '\\n' ") + inner
	}
	return "find " + where + " -print0 | xargs -0 " + inner
}

// TestSafeLinesOnlyRead really runs safe lines: they write nothing, connect to nothing
// and run no other program.
func TestSafeLinesOnlyRead(t *testing.T) {
	want, seed := stress.Size(150, 3000), stress.Seed(t)
	b := newBox(t)
	r := rand.New(rand.NewPCG(seed, 0))
	lines := slices.Clone(writing)
	for _, s := range samples(t) {
		lines = append(lines, s.line)
	}
	lines = append(lines, "git log", "git log --stat -1", "git log --format='%h %an' -3", "git ls-files -o", "git describe --tags", "git rev-list --count HEAD", "git branch -av", "git stash list", "git reflog", "git shortlog -sn HEAD", "go version", "go env GOROOT GOMOD")
	names := programs.Names(func(p *programs.Program) bool { return p.Safe != nil })
	before, ran, tried, entered := b.tree(), 0, 0, 0
	for ; ran < want; tried++ {
		var line string
		if tried < len(lines) {
			line = lines[tried]
		} else if r.IntN(3) == 0 {
			line = randomStarter(r, names)
		} else if line = randomLine(r, names); r.IntN(4) == 0 {
			line = randomLine(r, []string{"git", "sort", "find", "rg", "grep"})
		}
		if r.IntN(8) == 0 {
			line = "cd " + filepath.Join(b.place.Dir, []string{"", "src", "deploy"}[r.IntN(3)]) + " && " + line
		}
		j := b.place.Judge(line)
		if j.Class != Safe {
			continue
		}
		ran++
		if j.enters != "" {
			entered++
		}
		if did := b.run(j); did != nil {
			t.Errorf("%s, run as %s, does more than read:\n%s", line, j.Script(), strings.Join(did, "\n"))
		}
	}
	if d := cmp.Diff(before, b.tree()); d != "" {
		t.Errorf("files changed:\n%s", d)
	}
	t.Logf("load: %d safe lines ran, of %d; %d of them entered a folder first; seed %d", ran, tried, entered, seed)
}

// TestGitComparesOnly really runs commands of git that compare files, in a repository whose settings
// name programs for everything but filters.
func TestGitComparesOnly(t *testing.T) {
	b := newBox(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "gpg.program=false"}, args...)...)
		cmd.Dir, cmd.Env = b.place.Dir, b.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	lines := []string{
		"git status", "git status -sb", "git status --porcelain --ignored", "git diff", "git diff a.txt", "git diff -U1 --word-diff -- src", "git diff --stat", "git diff --stat HEAD", "git diff --name-only v1 -- a.txt",
		"git diff --numstat --cached", "git diff --quiet", "git diff HEAD", "git diff v1", "git diff --cached", "git log -p", "git show", "git grep todo v1", "git show v1:a.txt", "git blame a.txt", "git blame -L 1,2 -- a.txt", "git diff | head -3 && git status --short", "cd " + b.place.Dir + "/src && git diff .",
	}
	for _, line := range lines {
		if j := b.place.Judge(line); j.Class == Safe {
			t.Errorf("%s is safe although a setting has a filter: %s", line, j.Script())
		}
	}
	for _, section := range []string{"filter.evil", "remote.origin", "extensions"} {
		git("config", "--remove-section", section)
	}
	scratch.Write(t, filepath.Join(b.place.Dir, "a.txt"), "changed\nb\na\n\ntodo a\n")
	scratch.Write(t, filepath.Join(b.place.Dir, "src/a.go"), "package changed\n")
	if err := os.Chtimes(filepath.Join(b.place.Dir, "b.txt"), time.Now(), time.Now().Add(-time.Hour)); err != nil { // git diff would note that it is the same
		t.Fatal(err)
	}
	before, ran := b.tree(), 0
	for _, line := range lines {
		j := b.place.Judge(line)
		if j.Class != Safe {
			t.Errorf("%s asks: %q", line, j.Reasons())
			continue
		}
		ran++
		if did := b.run(j); did != nil {
			t.Errorf("%s, run as %s, does more than read:\n%s", line, j.Script(), strings.Join(did, "\n"))
		}
	}
	if d := cmp.Diff(before, b.tree()); d != "" {
		t.Errorf("files changed:\n%s", d)
	}
	t.Logf("load: %d lines", ran)
	for line, change := range map[string]func(){
		"git diff /etc/hostname": func() {},
		"git blame missing":      func() {},
		"git status":             func() { scratch.Write(t, filepath.Join(b.place.Dir, ".gitmodules"), "") },
	} {
		change()
		if j := b.place.Judge(line); j.Class == Safe && line != "git blame missing" {
			t.Errorf("%s is safe", line)
		}
	}
	p := here(t)
	scratch.Write(t, filepath.Join(p.Dir, "src/.git/config"), "[core]\n")
	p.Dir = filepath.Join(p.Dir, "src")
	for _, line := range []string{"git diff .. ../deploy", "git diff ../main.go", "git blame ../main.go", "git status .."} { // git compares such names without the repository
		if j := p.Judge(line); j.Class == Safe {
			t.Errorf("%s is safe outside of the repository: %s", line, j.Script())
		}
	}
	for name, change := range map[string]func(dir string){
		"a filter": func(dir string) {
			scratch.Write(t, filepath.Join(dir, ".git/config"), "[core]\n[FILTER \"x\"]clean=./evil\n")
		},
		"an include":     func(dir string) { scratch.Write(t, filepath.Join(dir, ".git/config"), "[include]\npath=x\n") },
		"another folder": func(dir string) { scratch.Write(t, filepath.Join(dir, ".git/config"), "[core]\nworktree=/etc\n") },
		"a file for .git": func(dir string) {
			_ = os.RemoveAll(filepath.Join(dir, ".git"))
			scratch.Write(t, filepath.Join(dir, ".git"), "gitdir: /x\n")
		},
		"a bare repository":  func(dir string) { scratch.Write(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n") },
		"no repository":      func(dir string) { _ = os.RemoveAll(filepath.Join(dir, ".git")) },
		"settings elsewhere": func(dir string) { scratch.Write(t, filepath.Join(dir, ".git/config.worktree"), "") },
	} {
		p := here(t)
		scratch.Write(t, filepath.Join(p.Dir, ".git/config"), "[core]\n")
		if j := p.Judge("git status"); j.Class != Safe {
			t.Fatalf("%s: %q", name, j.Reasons())
		}
		if change(p.Dir); p.Judge("git status").Class == Safe {
			t.Errorf("git status is safe with %s", name)
		}
	}
}

// TestTheTraceFindsEffects: the check of TestSafeLinesOnlyRead notices a write, another
// program and a connection.
func TestTheTraceFindsEffects(t *testing.T) {
	b := newBox(t)
	for name, j := range map[string]Judgement{
		"a write":      {steps: []step{{name: "/usr/bin/touch", args: []string{"made"}}}},
		"a program":    {steps: []step{{name: "/usr/bin/env", args: []string{"/usr/bin/true"}}}},
		"a connection": {steps: []step{{name: "echo", in: "/dev/tcp/127.0.0.1/9"}}},
		"git's own":    {steps: []step{{name: "/usr/bin/sh", args: []string{"-c", "git log"}}}},
	} {
		if did := b.run(j); did == nil {
			t.Errorf("%s goes unnoticed", name)
		}
	}
}
