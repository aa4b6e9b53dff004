//go:build amd64 || arm64

package trial_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/trial"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TestFaults: a run that does not go as it would in the folder is withheld, in clear words.
func TestFaults(t *testing.T) {
	defer trial.SetLimits(1<<40, 1<<30)() // 2000 shells that have not started their program yet take 300 MB
	b := newBench(t, map[string]string{"a": "a\n", "sub/.git": "gitdir: ../.git/modules/sub\n", ".gitignore": "out\n"})
	for _, c := range []struct{ name, line, want string }{
		{"a process that stays", "sleep 1000 &", "leaves sleep running"},
		{"a daemon", "setsid sleep 1000 >/dev/null 2>&1 </dev/null &", "leaves sleep running"},
		{"a large file", "dd if=/dev/zero of=out bs=1M seek=1024 count=1 2>&1", "writes a file of more than 1 GiB"},
		{"too many processes", "for i in $(seq 2100); do sleep 600 & done; wait", "starts more than 2000 processes"},
		{"too much memory", "python3 -c 'x = []\nwhile True: x.append(bytearray(b\"x\") * (64 << 20))'", "uses more than three quarters of the memory of this machine"},
		{"a killed process", "kill -9 $$", "was killed, as the system does when memory is short"},
		{"a full temporary folder", "dd if=/dev/zero of=/tmp/x bs=1M 2>&1", "needs more space for temporary files than a trial has"},
		{"a file that is too large to show", "head -c 30000000 /dev/zero >large", "writes a file that is too large to show, large"},
		{"many files", "for i in $(seq 1010); do echo x >f$i; done", "changes too much to show: more than 1000 files or 64 MB"},
		{"a submodule", "rm sub/.git", "changes the repository"},
		{"a folder that cannot be renamed", "python3 -c 'import os; os.rename(\"sub\", \"b\")'", "moves a folder, which a trial cannot"},
		{"large files", "rm -rf out; mkdir out; for i in 1 2 3; do fallocate -l 700M out/$i; done; sleep 600", "writes more than 1 GiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.run(c.line)
			if out.Withheld != c.want {
				t.Errorf("withheld: %q, want %q\n%s", out.Withheld, c.want, out.Output)
			}
		})
	}
	if out := b.run("ls"); out.Output != "a\nout\nsub\n" {
		t.Errorf("afterwards: %q", out.Output)
	}
}

// TestChangedMeanwhile: a file that somebody else changes or replaces while the command runs is no change by the command alone.
func TestChangedMeanwhile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"changed": func(path string) error { return os.WriteFile(path, []byte("theirs\n"), 0o600) },
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("theirs\n"), 0o600), os.Rename(path+".new", path))
		},
	} {
		t.Run(name, func(t *testing.T) { changedMeanwhile(t, change) })
	}
}

func changedMeanwhile(t *testing.T, change func(path string) error) {
	t.Helper()
	b := newBench(t, map[string]string{"a": "a\n", "b": "b\n"})
	started := make(chan bool, 1)
	// Whether the copy shows a file that was replaced is not known; it shows b, which was written.
	opts := shell.Options{Line: "echo ready; until grep -q go b; do :; done; echo ours >a", Dir: b.dir, Timeout: 20 * time.Second}
	opts.Output = func(string) {
		select {
		case started <- true:
		default:
		}
	}
	go func() {
		<-started
		err := change(filepath.Join(b.dir, "a"))
		if err = errors.Join(err, os.WriteFile(filepath.Join(b.dir, "b"), []byte("go\n"), 0o600)); err != nil {
			t.Error(err)
		}
	}()
	out, err := b.Run(t.Context(), opts, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Withheld != "changes a, which somebody else changed meanwhile" || out.TimedOut {
		t.Errorf("withheld: %q, %+v", out.Withheld, out.Result)
	}
	if got := scratch.Read(t, filepath.Join(b.dir, "a")); got != "theirs\n" {
		t.Errorf("the file is %q", got)
	}
}

// TestProbeBesideACommand: to find out whether the system has trials ends no other command.
func TestProbeBesideACommand(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n"})
	started, probed := make(chan bool, 1), make(chan string, 1)
	opts := shell.Options{Line: "echo ready; until grep -q go a; do :; done; echo done", Dir: b.dir, Timeout: 20 * time.Second}
	opts.Output = func(string) {
		select {
		case started <- true:
		default:
		}
	}
	go func() {
		<-started
		probed <- trial.Probe(context.Background(), filepath.Join(t.TempDir(), "trials"), b.jobs).Missing
		if err := os.WriteFile(filepath.Join(b.dir, "a"), []byte("go\n"), 0o600); err != nil {
			t.Error(err)
		}
	}()
	out, err := b.Run(t.Context(), opts, nil)
	if why := <-probed; err != nil || why != "" || out.ExitCode != 0 || out.Output != "ready\ndone\n" {
		t.Errorf("%v, %s, %+v", err, why, out.Result)
	}
}

// TestIgnoredFilesStay: the files that git ignores stay for the next command, also of the next session, until the folder has newer ones.
func TestIgnoredFilesStay(t *testing.T) {
	b := newBench(t, map[string]string{".gitignore": "out/\n", "out/real": "real\n"})
	b.run("echo made >out/made; echo changed >out/real; rm -rf none")
	if out := b.run("cat out/*"); out.Output != "made\nchanged\n" || len(out.Changes) > 0 {
		t.Errorf("%q, %s", out.Output, show(out))
	}
	scratch.Write(t, filepath.Join(b.dir, "out/real"), "newer\n")
	if out := b.run("cat out/*"); out.Output != "newer\n" {
		t.Errorf("with a newer file: %q", out.Output)
	}
}

// TestKeptIsBounded: files that trials leave for later ones go if they are too large, and if no session has used them for long.
func TestKeptIsBounded(t *testing.T) {
	b := newBench(t, map[string]string{".gitignore": "out\n", "a": "a\n"})
	state := t.TempDir()
	open := func() *trial.Trials {
		t.Helper()
		trials, err := trial.New(trial.Options{Root: b.root, State: state, Home: b.home, Jobs: b.jobs})
		if err != nil {
			t.Fatal(err)
		}
		return trials
	}
	run := func(line string) string {
		t.Helper()
		trials := open()
		out, err := trials.Run(t.Context(), shell.Options{Line: line, Dir: b.dir}, nil)
		if err = errors.Join(err, trials.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Output
	}
	run("head -c 100000 /dev/urandom >out")
	if got := run("ls"); got != "a\nout\n" {
		t.Errorf("kept: %q", got)
	}
	defer trial.SetLimits(1<<16, 1<<40)()
	run("true")
	if got := run("ls"); got != "a\n" {
		t.Errorf("too large: %q", got)
	}
	locks, err := filepath.Glob(filepath.Join(state, "*", "lock"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	old := time.Now().AddDate(0, 0, -31)
	for _, name := range []string{"used", "forgotten"} {
		lock := filepath.Join(state, name, "lock")
		scratch.Write(t, lock, "")
		if err := os.Chtimes(lock, old, old); err != nil {
			t.Fatal(err)
		}
	}
	used, err := os.Open(filepath.Join(state, "used/lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	if err := unix.Flock(int(used.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := open().Close(); err != nil {
		t.Fatal(err)
	}
	if names, err := filepath.Glob(filepath.Join(state, "*")); err != nil || len(names) != 2 || filepath.Base(names[1]) != "used" {
		t.Errorf("afterwards are there: %q, %v", names, err)
	}
}

// TestFullDisk: a command that fills the disk is asked about, and afterwards nothing of it is left there.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	b := newBench(t, map[string]string{"a": "a\n"})
	disk := t.TempDir()
	if err := unix.Mount("small", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skip("no small disk can be mounted: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	trials, err := trial.New(trial.Options{Root: b.root, State: disk, Home: b.home, Jobs: b.jobs})
	if err != nil {
		t.Fatal(err)
	}
	run := func(line string) *trial.Outcome {
		t.Helper()
		out, err := trials.Run(t.Context(), shell.Options{Line: line, Dir: b.dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, line := range []string{"head -c 9000000 /dev/zero >large", "for i in 1 2 3 4 5; do head -c 1000000 /dev/zero >f$i; done; true"} {
		if out := run(line); out.Withheld != "needs more space than a trial has" {
			t.Errorf("%s: withheld: %q\n%s", line, out.Withheld, out.Output)
		}
	}
	if out := run("ls; echo b >a"); show(out) != "a changed: b\n\n" || out.Output != "a\n" {
		t.Errorf("afterwards: %s\n%s", show(out), out.Output)
	}
	if err := trials.Close(); err != nil {
		t.Error(err)
	}
}

// TestCancelled: a command that is cancelled or takes too long ends with all its processes.
func TestCancelled(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n"})
	ctx, cancel := context.WithCancel(t.Context())
	out, err := b.Run(ctx, shell.Options{Line: "trap '' TERM; (setsid sleep 1000 &); echo x >a; echo ready; sleep 1000", Dir: b.dir, Output: func(string) { cancel() }}, nil)
	if err != nil || !out.Cancelled {
		t.Errorf("%v, %+v", err, out)
	}
	if out := b.run("cat a"); out.Output != "a\n" {
		t.Errorf("afterwards: %q", out.Output)
	}
}

// TestRefusedFolders: a folder with the home in it has no trials.
func TestRefusedFolders(t *testing.T) {
	home := scratch.Dir(t, map[string]string{"project/": ""})
	t.Setenv("HOME", filepath.Join(home, "project"))
	root, err := workspace.Open(home, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := trial.New(trial.Options{Root: root, State: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "your home") {
		t.Error(err)
	}
}

// TestOrdinaryUser runs the other tests as a user who is not root.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this user is not root")
	}
	dir := scratch.Public(t)
	cmd := exec.Command(scratch.Copy(t, os.Args[0], filepath.Join(dir, "test")), "-test.run", "^Test(Outcomes|Pending|Escapes|RandomTrials|IgnoredFilesStay|Cancelled)$")
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=/usr/local/go/bin:/usr/bin:/bin"}
	const nobody = 65534
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRealBuildsAreNotPoisoned: a command that builds and then spoils all that the build has left does not change the next
// build in the folder.
func TestRealBuildsAreNotPoisoned(t *testing.T) {
	const spoil = " -newer began -exec sh -c 'echo junk >\"$1\"' _ {} \\;"
	word := rand.Text()
	for _, c := range []struct {
		tool         string
		files        map[string]string
		inside, real string
	}{
		{
			"go",
			map[string]string{"go.mod": "module m\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() { println(\"" + word + "\") }\n"},
			"go build -o prog . && find $(go env GOCACHE) -type f" + spoil + "; ./prog", "go run .",
		},
		{
			"cargo",
			map[string]string{"Cargo.toml": "[package]\nname = \"prog\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/main.rs": "fn main() { println!(\"" + word + "\"); }\n"},
			"cargo build -q --offline && target/debug/prog && find target ${CARGO_HOME:-~/.cargo} -type f" + spoil, "cargo run -q --offline",
		},
		{
			"ccache",
			map[string]string{"prog.c": "#include <stdio.h>\n\nint main(void) { return puts(\"" + word + "\") < 0; }\n"},
			"ccache gcc -c prog.c && gcc -o prog prog.o && ./prog && find $(ccache -k cache_dir) -type f" + spoil, "ccache gcc -c prog.c && gcc -o prog prog.o && ./prog",
		},
		{
			"npm",
			map[string]string{"pack/package.json": `{"name":"pack","version":"1.0.0","main":"i.js"}`, "pack/i.js": "console.log('" + word + "')\n", "package.json": `{"private":true}`},
			"(cd pack && npm pack -s) && npm cache add -s ./pack/*.tgz && find ~/.npm -type f" + spoil + "; cat pack/i.js", "(cd pack && npm pack -s >/dev/null) && npm install -s --offline ./pack/*.tgz && node -e 'require(\"pack\")'",
		},
	} {
		t.Run(c.tool, func(t *testing.T) {
			if out, err := exec.CommandContext(t.Context(), c.tool, map[bool]string{true: "version", false: "--version"}[c.tool == "go"]).CombinedOutput(); err != nil {
				t.Skip(c.tool+" does not work here: ", err, string(out))
			}
			c.files[".gitignore"] = "began\nprog\n*.o\ntarget\nCargo.lock\n*.tgz\n"
			b := newBench(t, c.files)
			b.outsideRun("touch began")
			if out := b.run(c.inside); out.Withheld != "" || !strings.Contains(out.Output, word) {
				t.Errorf("in the trial: %s\n%s", show(out), out.Output)
			}
			out, err := b.jobs.Run(t.Context(), shell.Options{Line: c.real, Dir: b.dir})
			if err != nil || out.ExitCode != 0 || strings.TrimSpace(out.Output) != word {
				t.Errorf("afterwards: %v, %q", err, out.Output)
			}
		})
	}
}
