//go:build amd64 || arm64

package trial_test

import (
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

const identity = "git -c user.name=a -c user.email=a@example.com "

// TestRepository: a command may look into the repository, and refresh the times of files in its index, and change the index; another change is withheld.
func TestRepository(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n", "b": "b\n", ".gitignore": "out\n"})
	b.outsideRun("chmod 644 a b && git init -q . && git add . && " + identity + "commit -qm first && sleep 0.01 && touch a b && echo c >>b")
	before := tree(t, b.dir)
	for _, c := range []struct{ line, output, want string }{
		{"git status --short", " M b\n", ""},
		{"git log --format=%s; git diff --stat | tail -1", "first\n 1 file changed, 1 insertion(+)\n", ""},
		{"git rev-parse --show-toplevel", b.dir + "\n", ""},
		{"git update-index -q --refresh; git diff-files --name-only", "b\n", ""},
		{"git add b", "", "staged\n"},
		{"git rm -q --cached a && git status --short", "D  a\n M b\n?? a\n", "staged\n"},
		{"git add b && git rm -q --cached b", "", "staged\n"},
		{"echo x | git hash-object -w --stdin >/dev/null", "", "withheld: it changes the repository\n"},
		{"git add b && echo ../x >.git/objects/info/alternates", "", "withheld: it changes the repository\n"},
		{"git add b && rm -r .git/objects/78", "", "withheld: it changes the repository\n"},
		{"echo junk >.git/index", "", "withheld: it changes the repository\n"},
		{identity + "commit -qam second", "", "withheld: it changes the repository\n"},
		{"mkdir -p .git/lfs/tmp && echo x >.git/lfs/tmp/1", "", ""}, // as git-lfs does whenever it looks at a file
		{"mkdir -p .git/lfs/objects && echo x >.git/lfs/objects/1", "", "withheld: it changes the repository\n"},
		{"git config a.b c", "", "withheld: it changes the repository\n"},
		{"git checkout -q b", "", "b changed: b\n\n"},
		{"rm -rf .git", "", "withheld: it changes the repository\n"},
	} {
		out := b.run(c.line)
		if got := show(out); got != c.want || out.Output != c.output {
			t.Errorf("%s: %q\n%swant: %q\n%s", c.line, out.Output, got, c.output, c.want)
		}
	}
	for name, text := range tree(t, b.dir) {
		if before[name] != text {
			t.Errorf("%s has changed", name)
		}
	}
}

// TestLooksAtARepository: commands tell the same about a repository as outside; with options that write or run
// something the result is withheld.
func TestLooksAtARepository(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n"})
	part := filepath.Join(t.TempDir(), "part")
	b.outsideRun("git init -q " + part + " && (cd " + part + " && echo p >p && git add p && " + identity + "commit -qm part) && " +
		"git init -q . && git add . && git -c protocol.file.allow=always submodule --quiet add " + part + " part && " + identity + "commit -qm first && " +
		"git config filter.run.clean 'touch ran; cat' && echo 'a filter=run' >.gitattributes && touch a && git remote add other https://example.com/x && git worktree add -q ../" + filepath.Base(b.dir) + "-tree && rm -rf ../" + filepath.Base(b.dir) + "-tree")
	for _, line := range []string{
		"git submodule status", "git fsck", "git for-each-ref", "git notes list; git check-attr -a a", "git remote -v", "git remote get-url other", "git remote get-url none", "git worktree list --porcelain", "git status --short", "git diff --stat", "git log --format=%s",
	} {
		outside, err := b.jobs.Run(t.Context(), shell.Options{Line: line, Dir: b.dir})
		if err != nil {
			t.Fatal(err)
		}
		if out := b.run(line); show(out) != "" || out.Output != outside.Output || out.ExitCode != outside.ExitCode {
			t.Errorf("%s: exit %d %q, outside %d %q; %s", line, out.ExitCode, out.Output, outside.ExitCode, outside.Output, show(out))
		}
	}
	for _, line := range []string{"git config --get a.b || git config a.b c", "git notes add -m x", "git worktree prune", "git submodule foreach 'git tag x'", "git fsck --lost-found; git update-ref refs/tags/y HEAD"} {
		if out := b.run(line); out.Withheld == "" {
			t.Errorf("%s: %q, %s", line, out.Output, show(out))
		}
	}
}

// TestBelowARepository: a failure for lack of the repository around the folder says nothing.
func TestBelowARepository(t *testing.T) {
	b := newBench(t, map[string]string{"sub/a": "a\n", "apart/a": "a\n"})
	b.outsideRun("git init -q .")
	below := reopen(t, filepath.Join(b.dir, "sub"))
	if got, want := show(below.run("git add a")), "withheld: it needs the repository around the folder\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	b.outsideRun("rm -r .git")
	if out := below.run("git add a"); out.Withheld != "" || out.ExitCode != 128 {
		t.Errorf("without a repository: exit %d, %s", out.ExitCode, show(out))
	}
}

// TestWorktree: the repository of a worktree is there, to read.
func TestWorktree(t *testing.T) {
	b := newBench(t, nil)
	main := filepath.Join(t.TempDir(), "main")
	b.outsideRun("git init -q " + main + " && cd " + main + " && echo a >a && git add a && " + identity + "commit -qm first && git worktree add -q --force " + b.dir + "/tree")
	scratch.Write(t, filepath.Join(b.dir, "unrelated"), "x")
	b = reopen(t, filepath.Join(b.dir, "tree"))
	out := b.run("git log --format=%s && git status --short")
	if out.ExitCode != 0 || out.Output != "first\n" || show(out) != "" {
		t.Errorf("%q, %s", out.Output, show(out))
	}
}

// outsideRun runs a line in the folder itself.
func (b *bench) outsideRun(line string) {
	b.t.Helper()
	out, err := b.jobs.Run(b.t.Context(), shell.Options{Line: line, Dir: b.dir})
	if err != nil || out.ExitCode != 0 {
		b.t.Fatal(err, out.Output)
	}
}
