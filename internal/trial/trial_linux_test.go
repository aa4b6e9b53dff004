//go:build amd64 || arm64

package trial_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/trial"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// bench has trials of a folder.
type bench struct {
	*trial.Trials
	t       testing.TB
	root    *workspace.Root
	dir     string
	outside string // a file that is in no folder of a trial
	jobs    *shell.Jobs
	home    string // of the program
}

var (
	probe   sync.Once
	missing string // why this system has no trials
)

func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil { // as the program does
		t.Fatal(err)
	}
	state := t.TempDir()
	probe.Do(func() { missing = trial.Probe(t.Context(), state, nil).Missing })
	if missing != "" {
		t.Skip(missing)
	}
	return reopen(t, scratch.Dir(t, files))
}

// reopen returns a bench for a folder.
func reopen(t testing.TB, dir string) *bench {
	t.Helper()
	state := t.TempDir()
	home := filepath.Join(t.TempDir(), ".agent")
	root, err := workspace.Open(dir, workspace.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	jobs := shell.NewJobs()
	trials, err := trial.New(trial.Options{Root: root, State: state, Home: home, Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, err := range []error{trials.Close(), jobs.Close(), root.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	outside := filepath.Join(t.TempDir(), "outside")
	scratch.Write(t, outside, "outside\n")
	return &bench{trials, t, root, dir, outside, jobs, home}
}

func (b *bench) run(line string, pending ...workspace.Change) *trial.Outcome {
	b.t.Helper()
	out, err := b.Run(b.t.Context(), shell.Options{Line: line, Dir: b.dir}, pending)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// show describes an outcome.
func show(out *trial.Outcome) string {
	var b strings.Builder
	for _, c := range out.Changes {
		b.WriteString(c.Label())
		if s := c.States; s != nil {
			mode := "none"
			if s.After.Exists() {
				mode = s.After.Mode.String()
			}
			b.WriteString(" mode " + mode)
		}
		switch {
		case c.Delete:
			b.WriteString(" removed")
		case !c.Exists:
			b.WriteString(" made: " + c.After)
		default:
			b.WriteString(" changed: " + c.After)
		}
		b.WriteString("\n")
	}
	if out.Staged != "" && out.Withheld == "" {
		b.WriteString("staged\n")
	}
	if out.Withheld != "" {
		b.WriteString("withheld: it " + out.Withheld + "\n")
	}
	return b.String()
}

// TestOutcomes: each effect of a command is a change, or the reason why its result does not count; the folder stays as it was.
func TestOutcomes(t *testing.T) {
	b := newBench(t, map[string]string{
		"a": "a\n", "sub/b": "b\n", ".env": "KEY=1\n", ".gitignore": "target/\n", "old/x": "x\n", "old/y": "y\n", "empty/": "", "deep/er/est/x": "x\n", "mixed/x": "x\n", "mixed/empty/": "",
		"bin": "\x00\x01",
	})
	b.outsideRun("find . -type d -exec chmod 755 {} +; chmod 644 a; ln -s a link; ln -s a link2")
	before := tree(t, b.dir)
	for _, c := range []struct{ line, want string }{
		{"true", ""},
		{"touch a; cat a >c; cat c >a; rm c", ""},
		{"echo new >>a; echo n >sub/n; mkdir target; echo >target/t", "a changed: a\nnew\n\nsub/n made: n\n\n"},
		{"cat target/t", ""}, // of the last one
		{"rm -r old", "old/x removed\nold/y removed\n"},
		{"mv old new", "old/x → new/x changed: x\n\nold/y → new/y changed: y\n\n"},
		{"mv a b; mv b a", ""},
		{"rm -rf sub; mkdir sub; echo z >sub/z", "sub/b removed\nsub/z made: z\n\n"},
		{"rm -rf old; mkdir -p old/in; echo z >old/in/x", "old/x removed\nold/y removed\nold/in/x made: z\n\n"},
		{"rm -rf deep; mkdir -p deep/er; echo z >deep/er/z", "deep/er/est/x removed\ndeep/er/z made: z\n\n"},
		{"rm a; mkdir a; echo i >a/i", "withheld: it replaces the file a by a folder\n"},
		{"rm -r sub; echo f >sub", "withheld: it replaces the folder sub by a file\n"},
		{"printf '\\000\\002' >bin", "bin changed: " + workspace.Describe([]byte{0, 2}) + "\n"},
		{"chmod +x a; echo b >>a", "a mode -rwxr-xr-x changed: a\nb\n\n"},
		{"echo x >new; chmod +x new", "new made: x\n\n"},
		{"chmod 700 sub", "sub mode drwx------ changed: \n"},
		{"ln -s a b", "b mode L--------- made: a\n"},
		{"ln -sf sub link; rm link2", "link2 mode none removed\nlink mode L--------- changed: sub\n"},
		{"rm a; ln -s sub a; rm link; echo x >link", "a mode L--------- changed: sub\nlink mode -rw-r--r-- changed: x\n\n"},
		{"mkdir -p e/f; mkdir -m 700 g", "e/f mode drwxr-xr-x made: \ng mode drwx------ made: \n"},
		{"mkdir -m 700 g; echo x >g/x", "g/x made: x\n\nwithheld: it makes the folder g with another mode than usual\n"},
		{"rmdir empty", "empty mode none removed\n"},
		{"rm -r mixed", "mixed/x removed\nmixed/empty mode none removed\nmixed mode none removed\n"},
		{"chown 1:1 a 2>/dev/null || true", map[bool]string{true: "withheld: it changes the owner of a\n"}[os.Geteuid() == 0]},
		{"mkfifo p", "withheld: it makes a pipe or a socket, p\n"},
		{"sleep 100 & true", "withheld: it leaves sleep running\n"},
		{"git init -q .", "withheld: it changes the repository\n"},
		{"cat .env", "withheld: it needs .env, which it was not shown\n"},
		{"echo KEY=2 >.env", "withheld: it writes .env, which it was not shown\n"},
		{"cp a /usr/x", "withheld: it writes outside of the folder\n"},
		{"cat " + b.outside, "withheld: it needs " + b.outside + "\n"},
		{"git clone -q https://example.com/x", "withheld: it needs the network\n"},
		{"git clone -q https://example.com/x 2>&1 | tail -3", "withheld: it needs the network\n"},
		{"git clone -q https://example.com/x || true", "withheld: it needs the network\n"},
		{"git clone -q https://example.com/x; true", "withheld: it needs the network\n"},
		{"cat .env 2>&1 | tail -1", "withheld: it needs .env, which it was not shown\n"},
		{"cd sub && echo could not resolve host", ""},
		{"echo process.env .environment; false", ""},
	} {
		if got := show(b.run(c.line)); got != c.want {
			t.Errorf("%s:\n%swant:\n%s", c.line, got, c.want)
		}
	}
	if diff := cmp.Diff(before, tree(t, b.dir)); diff != "" {
		t.Error("the folder has changed:\n" + diff)
	}
}

// TestPending: a command sees the pending changes, and its own changes go on from them.
func TestPending(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n", "b": "b\n", "c": "c\n", "d": "d\n"})
	propose := func(name string, edit func(*workspace.Change)) workspace.Change {
		c, err := b.root.Propose(name, func(f workspace.File) (string, error) { return f.Text, nil })
		if err != nil {
			t.Fatal(err)
		}
		edit(&c)
		return c
	}
	pending := []workspace.Change{
		propose("a", func(c *workspace.Change) { c.After = "A\n" }),
		propose("b", func(c *workspace.Change) { c.Delete = true }),
		propose("c", func(c *workspace.Change) { c.To, c.ToName = filepath.Join(b.dir, "sub/c"), "sub/c" }),
		propose("new", func(c *workspace.Change) { c.After = "new\n" }),
	}
	for _, c := range []struct{ line, output, want string }{
		{"cat a new sub/c; ls", "A\nnew\nc\na\nd\nnew\nsub\n", ""},
		{"echo more >>a; echo more >>new", "", "a changed: A\nmore\n\nnew changed: new\nmore\n\n"},
		{"rm a new", "", "a removed\nnew removed\n"},
		{"echo b >b", "", "b made: b\n\n"},
		{"echo x >>sub/c", "", "sub/c changed: c\nx\n\n"},
		{"ls sub; cat a", "c\nA\n", ""},
	} {
		out := b.run(c.line, pending...)
		if got := show(out); got != c.want || out.Output != c.output {
			t.Errorf("%s: %q\n%swant:\n%s", c.line, out.Output, got, c.want)
		}
	}
	if out := b.run("cat a b c d"); out.Output != "a\nb\nc\nd\n" {
		t.Errorf("without pending changes: %q", out.Output)
	}
}

// tree returns the files of a folder: their modes with their contents.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[rel] = info.Mode().String() + " " + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			all[rel] = "link to " + target
		default:
			all[rel] = info.Mode().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEmptiedFolders: folders of a home that programs tell about making are there, without their content; a command
// writes only its own.
func TestEmptiedFolders(t *testing.T) {
	home := scratch.Dir(t, map[string]string{".java/.userPrefs/prefs.xml": "x\n"})
	t.Setenv("HOME", home)
	b := newBench(t, map[string]string{"a": "a\n"})
	if out := b.run("ls -A ~/.java/.userPrefs; echo y >~/.java/.userPrefs/made && ls ~/.java/.userPrefs"); out.Output != "made\n" || show(out) != "" {
		t.Errorf("%q, %s", out.Output, show(out))
	}
	if names := tree(t, home); len(names) != 4 {
		t.Errorf("the home has %q", names)
	}
	b = newBench(t, nil)
	if err := os.RemoveAll(filepath.Join(home, ".java")); err != nil {
		t.Fatal(err)
	}
	if out := b.run("ls -A ~"); strings.Contains(out.Output, ".java") {
		t.Errorf("without one, there is %q", out.Output)
	}
}

// TestFilesOfTheHome: a failure that names a file of the home, which the command was not shown, is withheld.
func TestFilesOfTheHome(t *testing.T) {
	home := scratch.Dir(t, map[string]string{".config/tool/login": "x\n", ".cargo/bin/tool": "x\n"})
	t.Setenv("HOME", home)
	b := newBench(t, nil)
	for line, want := range map[string]string{
		"cat ~/.config/tool/login":                               "withheld: it needs " + home + "/.config/tool/login\n",
		"echo 'no login in ~/.config/tool/login' >&2; exit 1":    "withheld: it needs " + home + "/.config/tool/login\n",
		"echo 'no login in $HOME/.config, sign in' >&2; exit 1":  "withheld: it needs " + home + "/.config\n",
		"echo 'no ~/.config/other, no ~/.cargo/bin/tool'; false": "",
	} {
		if got := show(b.run(line)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
