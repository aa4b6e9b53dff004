//go:build amd64 || arm64

package trial_test

import (
	crypto "crypto/rand"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/trial"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// TestRandomTrials runs random commands in trials and in a clone of the folder: the changes are those
// that the clone shows, one undo takes them back, and nothing is written in the folder and in the home before.
func TestRandomTrials(t *testing.T) {
	seed := stress.Seed(t)
	r := rand.New(rand.NewPCG(seed, seed))
	files := map[string]string{".gitignore": "*.tmp\nout/\n", "a.txt": "a\n", "b.txt": "b\n", "s/c.txt": "c\n", "s/d/e.txt": "e\n", "s/d/f.txt": "f\n", "x y/ü.txt": "u\n"}
	home := scratch.Dir(t, map[string]string{".config/": "", ".cache/go-build/": ""})
	t.Setenv("HOME", home)
	const usual = "find . -type d -exec chmod 755 {} +"
	b := newBench(t, files)
	b.outsideRun(usual)
	counted := stress.Faults{}
	before := tree(t, b.dir)
	// Each outcome happens at least once.
	lines := []string{"mv s/c.txt moved", "mkfifo pipe", "cat a.txt", "chmod 700 b.txt", "chmod 750 s", "echo 1 >>a.txt"}
	for len(lines) < stress.Size(40, 1000) {
		lines = append(lines, randomLine(r))
	}
	for i, line := range lines {
		line = "rm -rf out *.tmp; " + line // ignored files stay from one trial to the next
		events := watchAll(t, b.dir, home)
		out := b.run(line)
		if names := events(); len(names) > 0 {
			t.Errorf("%d: %s: written outside of the trial: %s", i, line, names)
		}
		clone := scratch.Dir(t, files)
		if _, err := b.jobs.Run(t.Context(), shell.Options{Line: usual + "; " + line, Dir: clone}); err != nil {
			t.Fatal(err)
		}
		want := visible(tree(t, clone))
		if out.Withheld != "" {
			counted["withheld"]++
			if cmp.Equal(tree(t, clone), before) {
				t.Errorf("%d: %s: withheld, but nothing changes: it %s", i, line, out.Withheld)
			}
			continue
		}
		if got := visible(after(t, b, out)); !cmp.Equal(want, got) {
			t.Errorf("%d: %s:\n%s", i, line, cmp.Diff(want, got))
		}
		if now := tree(t, b.dir); !cmp.Equal(before, now) {
			t.Fatalf("%d: %s: after the undo:\n%s", i, line, cmp.Diff(before, now))
		}
		counted[fmt.Sprint("changes: ", len(out.Changes) > 0)]++
		for _, c := range out.Changes {
			if c.Moves() {
				counted["move"]++
			}
			if c.States != nil {
				counted[fmt.Sprint("of files: ", c.States.OfFile())]++
			}
		}
	}
	counted.Check(t, "withheld", "changes: true", "changes: false", "move", "of files: true", "of files: false")
}

// randomLine returns a line that changes, moves, removes, makes and links some files.
func randomLine(r *rand.Rand) string {
	name := func() string {
		return []string{"a.txt", "b.txt", "s/c.txt", "s/d/e.txt", "s/d/f.txt", "'x y/ü.txt'", "new", "s/new", "n/e/w", "junk.tmp", "out/o"}[r.IntN(11)]
	}
	dir := func() string { return []string{"s", "s/d", "'x y'", "n", "out"}[r.IntN(5)] }
	var parts []string
	for range 1 + r.IntN(4) {
		parts = append(parts, []func() string{
			func() string { return fmt.Sprintf("echo %d >>%s", r.IntN(9), name()) },
			func() string { return fmt.Sprintf("printf '\\377\\000%d' >%s", r.IntN(9), name()) },
			func() string { return "sed -i s/./x/ " + name() },
			func() string { return "rm -f " + name() },
			func() string { return "mv " + name() + " " + name() },
			func() string { return "cp " + name() + " " + name() },
			func() string { return "mkdir -p " + dir() },
			func() string { return "rm -rf " + dir() },
			func() string { return "mv " + dir() + " moved" },
			func() string { return "cat *.txt >/dev/null" },
			func() string { return "touch " + name() },
			func() string { return "chmod 7" + []string{"00", "55"}[r.IntN(2)] + " " + name() },
			func() string { return "chmod 750 " + dir() },
			func() string { return "mkdir -p -m 700 " + dir() + "/made" },
			func() string { return "rmdir -p " + dir() + "/made" },
			func() string { return "mkfifo pipe" },
			func() string { return "ln -sf a.txt " + name() },
			func() string { return "f=" + name() + "; cp $f $f.bak && mv $f.bak $f" },
		}[r.IntN(18)]())
	}
	return strings.Join(parts, "; ")
}

// visible leaves out what git ignores.
func visible(all map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range all {
		if !strings.HasSuffix(name, ".tmp") && name != "out" && !strings.HasPrefix(name, "out/") {
			out[name] = text
		}
	}
	return out
}

// after returns the files of the folder with the changes, which it writes and takes back.
func after(t *testing.T, b *bench, out *trial.Outcome) map[string]string {
	t.Helper()
	if len(out.Changes) == 0 {
		return tree(t, b.dir)
	}
	by := workspace.Origin{Session: "s", Turn: crypto.Text(), Tool: "execute_command"}
	if _, err := b.root.Commit(t.Context(), workspace.AllOrNone, by, out.Changes...); err != nil {
		t.Fatal(err, show(out))
	}
	all := tree(t, b.dir)
	plan, err := undo.Find(t.Context(), b.root, undo.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	return all
}

// watchAll watches the folders below some for everything that writes, until events returns the names seen since.
func watchAll(t *testing.T, dirs ...string) (events func() []string) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	const writes = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE | unix.IN_MOVE | unix.IN_CREATE | unix.IN_DELETE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				_, err = unix.InotifyAddWatch(fd, path, writes)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func() (names []string) {
		buf := make([]byte, 64<<10)
		for {
			n, err := unix.Read(fd, buf)
			if err != nil || n <= 0 {
				return names
			}
			names = append(names, strings.TrimRight(string(buf[unix.SizeofInotifyEvent:n]), "\x00"))
		}
	}
	probe := filepath.Join(dirs[0], "probe")
	scratch.Write(t, probe, "x") // the watch works
	if err := os.Remove(probe); err != nil || len(read()) == 0 {
		t.Fatal("the watch sees nothing", err)
	}
	return func() []string {
		defer unix.Close(fd)
		return read()
	}
}
