//go:build unix

package check

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// open returns a runner for a folder with files.
func open(t *testing.T, command string, files map[string]string) (r *Runner, dir string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		scratch.Write(t, filepath.Join(dir, name), text)
	}
	jobs := shell.NewJobs()
	r = New(Options{
		Command: command, Roots: []string{dir}, Env: shell.Environ(os.Environ(), nil), Jobs: jobs,
		Sandbox: func(context.Context) (*sandbox.Policy, string) { return nil, "" },
	})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := jobs.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, dir
}

// change returns a change of a file.
func change(t *testing.T, dir, name, after string) workspace.Change {
	t.Helper()
	path := filepath.Join(dir, name)
	c := workspace.Change{File: workspace.File{Path: path, Name: name, Mode: 0o644}, After: after}
	c.Format.Encoding = workspace.UTF8
	if data, err := os.ReadFile(path); err == nil {
		c.Exists, c.Text = true, string(data)
	}
	return c
}

// result runs the check of changes.
func result(t *testing.T, r *Runner, changes ...workspace.Change) confirm.CheckResult {
	t.Helper()
	all := parts(changes)
	plans := r.plans(all)
	if len(plans) == 0 {
		t.Fatal("no command suits the changes")
	}
	return r.run(t.Context(), plans, all)
}

func TestProblems(t *testing.T) {
	const output = "# pkg\nvet: pkg/a.go:6:17: undefined: x\npkg/b.go:3: no column\nsrc/a.ts(4,5): error TS2322: Type 'a'.\n" +
		"/abs/c.rs:1:2: warning: unused\nnot a problem\nhttp://host:80/x: text\n  --> src/x.rs:1:2\n"
	want := []confirm.Problem{
		{Path: "/w/pkg/a.go", Line: 6, Column: 17, Text: "undefined: x"},
		{Path: "/w/pkg/b.go", Line: 3, Text: "no column"},
		{Path: "/w/src/a.ts", Line: 4, Column: 5, Text: "error TS2322: Type 'a'."},
		{Path: "/abs/c.rs", Line: 1, Column: 2, Warning: true, Text: "warning: unused"},
	}
	if d := cmp.Diff(want, problems(output, "/w")); d != "" {
		t.Error(d)
	}
}

// TestCompare counts problems as new, gone or as before, whatever their lines.
func TestCompare(t *testing.T) {
	at := func(line int, text string) confirm.Problem {
		return confirm.Problem{Path: "/a", Line: line, Text: text}
	}
	failed := func(all ...confirm.Problem) outcome { return outcome{failed: true, problems: all} }
	for name, tt := range map[string]struct {
		after, before outcome
		line          string
	}{
		"green":         {outcome{}, outcome{}, "c ✔ 0.0 s"},
		"new":           {failed(at(1, "x"), at(2, "y")), outcome{}, "c ✗ 2 new errors · 0.0 s"},
		"moved":         {failed(at(9, "x")), failed(at(1, "x")), "c ✔ nothing new (+0 −0, 1 as before) · 0.0 s"},
		"twice":         {failed(at(1, "x"), at(2, "x")), failed(at(1, "x")), "c ✗ 1 new error (+1 −0, 1 as before) · 0.0 s"},
		"in exchange":   {failed(at(1, "x")), failed(at(1, "y")), "c ✗ 1 new error (+1 −1) · 0.0 s"},
		"broken":        {failed(), outcome{}, "c ✗ fails with this change, not without it · 0.0 s"},
		"broken before": {failed(), failed(), "c: already failed before this change"},
	} {
		res := compare(tt.after, tt.before)
		res.Title = "c"
		if got := res.Line(); got != tt.line {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestCopyFollowsTheFolder tries proposals one after the other while the folder changes.
func TestCopyFollowsTheFolder(t *testing.T) {
	const command = "find . -type f -o -type l | sort | while read f; do echo $f: $(cat $f 2>/dev/null); done; echo x > made; false"
	r, dir := open(t, command, map[string]string{
		"a": "one", "sub/b": "two", ".gitignore": "*.log\n/out/\n", "x.log": "no", "out/y": "no", "node_modules/m/i": "lib", ".git/config": "no",
	})
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	saw := func(c workspace.Change, want string) {
		t.Helper()
		if got := result(t, r, c).Output; got != want {
			t.Errorf("%s: %s", c.Name, cmp.Diff(want, got))
		}
	}
	const rest = "./.gitignore: *.log /out/\n"
	saw(change(t, dir, "a", "ONE"), rest+"./a: ONE\n./link: ONE\n./node_modules:\n./sub/b: two\n")
	scratch.Write(t, filepath.Join(dir, "sub/b"), "TWO")
	saw(change(t, dir, "new/c", "three"), rest+"./a: one\n./link: one\n./new/c: three\n./node_modules:\n./sub/b: TWO\n")
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	gone := change(t, dir, "a", "")
	gone.Delete = true
	saw(gone, rest+"./link:\n./node_modules:\n")
	for _, name := range []string{"made", "new"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is in the folder", name)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(data) != "one" {
		t.Errorf("a holds %q, %v", data, err)
	}
}

// TestLinksLeadNowhere: a command that puts links to the folder into its copy does not make
// the next check write there.
func TestLinksLeadNowhere(t *testing.T) {
	r, dir := open(t, "", map[string]string{"sub/a": "one", "sub/b": "two", "node_modules/m": "lib"})
	r.opt.Command = "rm -rf sub && ln -s " + dir + "/sub sub; rm -f ../../*.json; ln -sf " + dir + "/sub/a ../../tmp/x"
	result(t, r, change(t, dir, "sub/a", "ONE"))
	r.opt.Command = "cat sub/a sub/b; false"
	if res := result(t, r, change(t, dir, "sub/a", "ONE")); res.Output != "ONEtwo" {
		t.Errorf("%+v", res)
	}
	if res := result(t, r, change(t, dir, "node_modules/m", "LIB")); res.Missing == "" {
		t.Errorf("a file behind a link was tried: %+v", res)
	}
	for name, want := range map[string]string{"sub/a": "one", "sub/b": "two", "node_modules/m": "lib"} {
		if got := scratch.Read(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

// TestAnswerStopsTheCheck: with the answer all processes of the command end.
func TestAnswerStopsTheCheck(t *testing.T) {
	r, dir := open(t, "sleep 300 & echo $! > $TMPDIR/child; mv $TMPDIR/child $TMPDIR/pid; wait", map[string]string{"a": "one"})
	c := change(t, dir, "a", "two")
	check := r.For(c)
	pid := 0
	answer := reviewer(func(context.Context, confirm.Request) confirm.Verdict {
		for pid == 0 { // until it runs
			names, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "agent-check-*", "tmp", "pid"))
			for _, name := range names {
				pid = number(strings.TrimSpace(scratch.Read(t, name)))
			}
			<-time.After(time.Millisecond)
		}
		return confirm.Verdict{Decision: confirm.Approve}
	})
	if _, err := confirm.NewController(nil, answer).Ask(t.Context(), confirm.Request{Subject: confirm.Edit(c), Check: check}); err != nil {
		t.Fatal(err)
	}
	<-check.Done()
	if res, _ := check.Result(); res.Missing != "stopped" {
		t.Errorf("%+v", res)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("a process of the command is left")
	}
}

// reviewer is a confirm.Reviewer.
type reviewer func(context.Context, confirm.Request) confirm.Verdict

func (r reviewer) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	return r(ctx, req), nil
}

// TestAuto finds the command for a file.
func TestAuto(t *testing.T) {
	r, dir := open(t, Auto, map[string]string{
		"go.mod": "module m\n", "a/b.go": "", "web/tsconfig.json": "{}", "web/src/x.ts": "", "Cargo.toml": "", "src/main.rs": "", "README.md": "",
	})
	for name, want := range map[string]string{
		"a/b.go": "go vet ./a", "top.go": "go vet .", "web/src/x.ts": "tsc --noEmit", "src/main.rs": "cargo check", "README.md": "", "x.ts": "",
	} {
		if got := title(r.plans([]workspace.Change{change(t, dir, name, "")})); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if check := r.For(change(t, t.TempDir(), "a.go", "")); check != nil {
		t.Error("a file outside of the folder is checked")
	}
}

// TestImportersAreTried: a change is red if it breaks a package that imports the changed one,
// or its tests. A package that was broken before does not count.
func TestImportersAreTried(t *testing.T) {
	env := goCache(t)
	r, dir := open(t, Auto, map[string]string{
		"go.mod": "module m\n\ngo 1.21\n", "a/a.go": "package a\n\nfunc F() int { return 1 }\n",
		"main.go":        "package main\n\nimport \"m/a\"\n\nfunc main() { var n int = a.F(); println(n) }\n",
		"b/b_test.go":    "package b_test\n\nimport \"m/a\"\n\nvar _ int = a.F()\n",
		"broken/x.go":    "package broken\n\nimport \"m/a\"\n\nvar _ = a.Gone\n",
		"unrelated/x.go": "package unrelated\n\nvar _ = gone\n",
	})
	r.opt.Env = append(r.opt.Env, env)
	res := result(t, r, change(t, dir, "a/a.go", "package a\n\nfunc F() int { return 2 }\n"))
	if len(res.Problems) != 0 || res.Red() || res.Missing != "" {
		t.Errorf("a change that breaks nothing: %s\n%s", res.Line(), res.Output)
	}
	res = result(t, r, change(t, dir, "a/a.go", "package a\n\nfunc F() (int, error) { return 1, nil }\n"))
	var at []string
	for _, p := range res.Problems {
		at = append(at, strings.TrimPrefix(p.Path, dir+"/"))
	}
	slices.Sort(at)
	if d := cmp.Diff([]string{"b/b_test.go", "main.go"}, slices.Compact(at)); d != "" {
		t.Errorf("%s%s\n%s", d, res.Line(), res.Output)
	}
}

// slow is Jobs on which the commands with a part in their line take too long.
type slow struct {
	Jobs
	part  string
	fired int
}

func (s *slow) Run(ctx context.Context, opts shell.Options) (shell.Result, error) {
	if strings.Contains(opts.Line, s.part) {
		s.fired++
		return shell.Result{TimedOut: true}, nil
	}
	return s.Jobs.Run(ctx, opts)
}

// TestUntriedImportersAreReported: no answer about the packages that import the changed one
// is not a good answer.
func TestUntriedImportersAreReported(t *testing.T) {
	env := goCache(t)
	for _, part := range []string{"go list", " ./b"} {
		r, dir := open(t, Auto, map[string]string{
			"go.mod": "module m\n\ngo 1.21\n", "a/a.go": "package a\n\nfunc F() int { return 1 }\n",
			"b/b.go": "package b\n\nimport \"m/a\"\n\nvar _ int = a.F()\n",
		})
		jobs := &slow{Jobs: r.opt.Jobs, part: part}
		r.opt.Env, r.opt.Jobs = append(r.opt.Env, env), jobs
		res := result(t, r, change(t, dir, "a/a.go", "package a\n\nfunc F() (int, error) { return 1, nil }\n"))
		const want = "go vet ./a: finds nothing there, but the packages that import it were not tried: not done after 2m0s"
		if res.Line() != want || res.Red() || jobs.fired != 1 {
			t.Errorf("%q is slow, %d times: %s", part, jobs.fired, res.Line())
		}
	}
}

// TestGitIsNotRun: it may run programs that the settings of the repository name.
func TestGitIsNotRun(t *testing.T) {
	env := goCache(t)
	r, dir := open(t, Auto, map[string]string{
		"go.mod": "module m\n\ngo 1.21\n", "a/a.go": "package a\n\nfunc F() {}\n",
		"main.go": "package main\n\nimport \"m/a\"\n\nfunc main() { a.F() }\n", ".git/HEAD": "ref: refs/heads/main\n",
	})
	bin := t.TempDir()
	ran := filepath.Join(bin, "ran")
	scratch.Write(t, filepath.Join(bin, "git"), "#!/bin/sh\n: > '"+ran+"'\nexit 1\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.opt.Env = append(r.opt.Env, env, "PATH="+bin+":"+os.Getenv("PATH"))
	for _, c := range []workspace.Change{
		change(t, dir, "a/a.go", "package a\n\nfunc F(int) {}\n"), change(t, dir, "main.go", "package main\n\nfunc main() { gone() }\n"),
	} {
		if res := result(t, r, c); !res.Red() {
			t.Errorf("%s: %s\n%s", c.Name, res.Line(), res.Output)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("git was run")
	}
}

// TestTogether tries changes that need each other: each alone would fail.
func TestTogether(t *testing.T) {
	env := goCache(t)
	r, dir := open(t, Auto, map[string]string{
		"go.mod": "module m\n\ngo 1.26\n", "main.go": "package main\n\nimport \"m/old\"\n\nfunc main() { old.F() }\n",
		"old/old.go": "package old\n\nfunc F() {}\n", "Cargo.toml": "", "lib.go": "package main\n",
	})
	r.opt.Env = append(r.opt.Env, env)
	move := change(t, dir, "old/old.go", "package fresh\n\nfunc F() {}\n")
	move.To, move.ToName = filepath.Join(dir, "fresh/fresh.go"), "fresh/fresh.go"
	mainGo := change(t, dir, "main.go", "package main\n\nimport \"m/fresh\"\n\nfunc main() { fresh.F(); helper() }\n")
	lib := change(t, dir, "lib.go", "package main\n\nfunc helper() {}\n")
	gone := change(t, dir, "lib.go", "")
	gone.Delete = true
	if res := result(t, r, move, mainGo, lib); res.Red() || res.Missing != "" || res.Title != "go vet ./fresh ." {
		t.Errorf("together: %+v", res)
	}
	if res := result(t, r, mainGo, lib); !res.Red() {
		t.Errorf("without the move: %+v", res)
	}
	res := result(t, r, move, mainGo, gone)
	if want := (confirm.Problem{Path: mainGo.Path, Line: 5, Column: 26, Text: "undefined: helper"}); len(res.Problems) != 1 || res.Problems[0] != want {
		t.Errorf("without the helper: %+v", res)
	}
	rust := change(t, dir, "src/main.rs", "fn main() {}\n")
	r.opt.Env = append(r.opt.Env, "PATH="+dir) // no program at all
	if res := result(t, r, lib, rust); res.Title != "go vet ., cargo check" || res.Took == 0 {
		t.Errorf("two commands: %+v", res)
	}
}

// goCache keeps the build cache of the machine.
func goCache(t *testing.T) string {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return "GOCACHE=" + strings.TrimSpace(string(cache))
}

// TestTogetherInACopy tries several changes in one copy, which follows the folder again
// afterwards.
func TestTogetherInACopy(t *testing.T) {
	r, dir := open(t, "cat a b c d; false", map[string]string{"a": "one ", "b": "two ", "c": "three "})
	gone := change(t, dir, "c", "")
	gone.Delete = true
	moved := change(t, dir, "b", "TWO ")
	moved.To, moved.ToName = filepath.Join(dir, "d"), "d"
	if res := result(t, r, change(t, dir, "a", "ONE "), moved, gone); !strings.HasPrefix(res.Output, "ONE ") || !strings.Contains(res.Output, "TWO") || strings.Contains(res.Output, "three") {
		t.Errorf("%+v", res)
	}
	if res := result(t, r, change(t, dir, "a", "1 ")); !strings.HasPrefix(res.Output, "1 two three ") || strings.Contains(res.Output, "TWO") {
		t.Errorf("afterwards: %+v", res)
	}
}

// BenchmarkOverlay is a check of a Go package by go vet with an overlay.
func BenchmarkOverlay(b *testing.B) {
	if _, err := exec.LookPath("go"); err != nil {
		b.Skip(err)
	}
	dir := b.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	jobs := shell.NewJobs()
	r := New(Options{
		Command: Auto, Roots: []string{dir}, Env: shell.Environ(os.Environ(), nil), Jobs: jobs,
		Sandbox: func(context.Context) (*sandbox.Policy, string) { return nil, "" },
	})
	c := workspace.Change{File: workspace.File{Path: filepath.Join(dir, "main.go"), Exists: true}, After: "package main\n\nfunc main() { println(1) }\n"}
	c.Format.Encoding = workspace.UTF8
	all := []workspace.Change{c}
	plans := r.plans(all)
	for b.Loop() {
		if res := r.run(b.Context(), plans, all); res.Missing != "" || res.Red() {
			b.Fatalf("%+v", res)
		}
	}
	if err := r.Close(); err != nil {
		b.Error(err)
	}
	if err := jobs.Close(); err != nil {
		b.Error(err)
	}
}
