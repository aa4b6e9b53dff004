package shell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// trees are commands that leave processes behind. Each process has the test's token,
// which replaces TOKEN by a number, in its arguments.
var trees = map[string]string{
	"background":          `sleep TOKEN &`,
	"without the pipe":    `sleep TOKEN >/dev/null 2>&1 &`,
	"own session":         `setsid sleep TOKEN >/dev/null 2>&1 &`,
	"own group":           `set -m; sleep TOKEN >/dev/null 2>&1 &`,
	"double fork":         `(setsid sh -c 'sleep TOKEN & sleep TOKEN & wait' >/dev/null 2>&1 &)`,
	"nohup":               `nohup sleep TOKEN >/dev/null 2>&1 & disown`,
	"ignores TERM":        `trap '' TERM; sleep TOKEN &`,
	"ignores all it can":  `(trap '' TERM HUP INT; setsid sleep TOKEN >/dev/null 2>&1 &)`,
	"stopped":             `sleep TOKEN & kill -STOP $!`,
	"no environment":      `env -i setsid sleep TOKEN &`,
	"no mark, no session": `env -i sleep TOKEN >/dev/null 2>&1 &`,
	"forks when asked":    `bash -c "trap 'sleep TOKEN & sleep TOKEN' TERM; sleep TOKEN & wait; wait" >/dev/null 2>&1 &`,
}

var tokens atomic.Int32

// token returns a number of seconds that no other process sleeps.
func token() string { return fmt.Sprintf("9%07d%03d", os.Getpid(), tokens.Add(1)) }

// alive returns the command lines of living processes with token in them.
func alive(t *testing.T, token string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && bytes.Contains(line, []byte(token)) { // a zombie has no command line
			lines = append(lines, f+": "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}

// children returns our direct children, zombies included.
func children(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		list, err := os.ReadFile(f)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		all.Write(list)
	}
	return all.String()
}

func TestTreeEndsWithTheShell(t *testing.T) {
	j := shell.NewJobs()
	t.Cleanup(func() { closeJobs(t, j) })
	for name, line := range trees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := token()
			start := time.Now()
			opts := shell.Options{Line: strings.ReplaceAll(line, "TOKEN", n) + "\n sleep 0.05; echo done", Dir: t.TempDir()}
			res, err := j.Run(t.Context(), opts)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v; 1.5 seconds are promised", took)
			}
			if err != nil || res.ExitCode != 0 || !strings.Contains(res.Output, "done\n") {
				t.Errorf("%+v", res)
			}
			if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "in the background and ended: ") {
				t.Errorf("notes %q", res.Notes)
			}
			if left := alive(t, n); left != nil {
				t.Errorf("left %q", left)
			}
		})
	}
}

// spin works for a number of milliseconds.
const spin = "from=${EPOCHREALTIME/[.,]/}; while ((${EPOCHREALTIME/[.,]/} < from + %d000)); do :; done; echo end"

// TestWorkAfterTheShell: a process that works after the shell's exit, as one that gets little
// of a busy machine's processors, may finish. One that works on and on may not.
func TestWorkAfterTheShell(t *testing.T) {
	res := run(t, shell.Options{Line: "echo x > >(cat; " + fmt.Sprintf(spin, 900) + ")"})
	if res.Output != "x\nend\n" || len(res.Notes) > 0 {
		t.Errorf("output %q, notes %q; want all of it", res.Output, res.Notes)
	}
	res = run(t, shell.Options{Line: "{ " + fmt.Sprintf(spin, 3_600_000) + "; } &"})
	if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "left in the background and ended: bash") {
		t.Errorf("output %q, notes %q; want it ended", res.Output, res.Notes)
	}
}

// TestCancelEndsWorkAfterTheShell: a cancellation does not wait for a process that works on.
func TestCancelEndsWorkAfterTheShell(t *testing.T) {
	j := shell.NewJobs()
	t.Cleanup(func() { closeJobs(t, j) })
	res := cancelAtWork(t, j)
	for res.Cancelled { // before Run saw the shell's exit, which the process sees first
		res = cancelAtWork(t, j)
	}
	if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "left in the background and ended: bash") {
		t.Errorf("%+v; want a note on the process that was ended", res)
	}
}

// cancelAtWork runs a line whose process works after the shell's exit, and cancels it then.
func cancelAtWork(t *testing.T, j *shell.Jobs) shell.Result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "works")); err == nil {
				cancel()
			}
			<-time.After(time.Millisecond)
		}
	}()
	line := "{ while kill -0 $$ 2>/dev/null; do :; done; >works; " + fmt.Sprintf(spin, 1500) + "; } &"
	res, err := j.Run(ctx, shell.Options{Line: line, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestTreeEndsOnTimeoutAndCancel(t *testing.T) {
	j := shell.NewJobs()
	t.Cleanup(func() { closeJobs(t, j) })
	for name, line := range trees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, how := range []string{"timeout", "cancel"} {
				n := token()
				ctx, cancel := context.WithCancel(t.Context())
				opts := shell.Options{Line: strings.ReplaceAll(line, "TOKEN", n) + "\n echo up; sleep " + n, Dir: t.TempDir()}
				if how == "timeout" {
					opts.Timeout = 300 * time.Millisecond
				} else {
					opts.Output = func(string) { cancel() }
				}
				res, err := j.Run(ctx, opts)
				cancel()
				if err != nil || res.TimedOut != (how == "timeout") || res.Cancelled != (how == "cancel") {
					t.Errorf("%s: %+v, %v", how, res, err)
				}
				if len(res.Notes) > 0 {
					t.Errorf("%s: notes %q", how, res.Notes)
				}
				if left := alive(t, n); left != nil {
					t.Errorf("%s: left %q", how, left)
				}
			}
		})
	}
}

func expectNothingLeft(t *testing.T, n string) {
	t.Helper()
	if left := alive(t, n); left != nil {
		t.Errorf("left %q", left)
	}
	if left := children(t); left != "" {
		t.Errorf("unreaped children: %s", left)
	}
}

// TestShellThatIgnoresTERM: the shell itself has to be killed.
func TestShellThatIgnoresTERM(t *testing.T) {
	n := token()
	res := run(t, shell.Options{Line: "trap '' TERM; echo up; sleep " + n + "; sleep " + n, Timeout: 200 * time.Millisecond})
	if !res.TimedOut || res.ExitCode != 128+9 || res.Output != "up\n" || len(res.Notes) > 0 {
		t.Errorf("%+v", res)
	}
	expectNothingLeft(t, n)
}

// TestStrayIsNamed: a process without any trace of the command, not even its output,
// might be somebody else's; it is named, once.
func TestStrayIsNamed(t *testing.T) {
	n := token()
	j := shell.NewJobs()
	defer closeJobs(t, j)
	const untilCutLoose = `until read -r _ name _ _ _ sid _ </proc/$!/stat && [ "$name $sid" = "(sleep) $!" ]; do sleep 0.01; done`
	opts := shell.Options{Line: "env -i setsid sleep " + n + " >/dev/null 2>&1 & echo $!;" + untilCutLoose, Dir: t.TempDir()}
	res, err := j.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer endProcess(t, strings.TrimSpace(res.Output))
	if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "may still be running: sleep (pid "+strings.TrimSpace(res.Output)+")") {
		t.Errorf("notes %q", res.Notes)
	}
	res, err = j.Run(t.Context(), shell.Options{Line: "true", Dir: t.TempDir()})
	if err != nil || len(res.Notes) > 0 {
		t.Errorf("the next command: %+v, %v", res, err)
	}
}

// TestStrayOfACancelledCommandIsNamed: nor is it passed over when the command is stopped.
func TestStrayOfACancelledCommandIsNamed(t *testing.T) {
	for _, how := range []string{"in a group", "without one"} {
		t.Run(how, func(t *testing.T) {
			if how == "without one" {
				shell.WithoutGroups(t)
			}
			j := shell.NewJobs()
			defer closeJobs(t, j)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			opts := shell.Options{Line: "(" + strings.ReplaceAll(strayLine, "TOKEN", token()) + "; echo $! >pid); cat pid; sleep 1000", Dir: t.TempDir()}
			opts.Output = func(string) { cancel() }
			res, err := j.Run(ctx, opts)
			pid := strings.TrimSpace(res.Output)
			if err != nil || !res.Cancelled || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "may still be running: sleep (pid "+pid+")") {
				t.Errorf("%+v, %v", res, err)
			}
			endProcess(t, pid)
		})
	}
}

// endProcess ends an adopted process and reaps it.
func endProcess(t *testing.T, pid string) {
	t.Helper()
	id, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
}

// TestOthersAreLeftAlone: children that other parts of the program started, dead or
// alive, are neither ended nor waited for.
func TestOthersAreLeftAlone(t *testing.T) {
	dead := exec.Command("true")
	living := exec.Command("sleep", token())
	stdin := exec.Command("cat") // in our own session
	for _, cmd := range []*exec.Cmd{dead, living, stdin} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	res := run(t, shell.Options{Line: "sleep " + token() + " &"})
	if len(res.Notes) != 1 || strings.Contains(res.Notes[0], strconv.Itoa(living.Process.Pid)) {
		t.Errorf("notes %q", res.Notes)
	}
	if err := dead.Wait(); err != nil {
		t.Errorf("the status of a dead child was taken away: %v", err)
	}
	if err := living.Process.Kill(); err != nil {
		t.Errorf("a living child was ended: %v", err)
	}
	if err := living.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("a living child: %v, want it killed by the test alone", err)
	}
	if err := stdin.Wait(); err != nil {
		t.Error(err)
	}
}

// TestCommandsBesideEachOther: concurrent commands have their own statuses, outputs and
// trees.
func TestCommandsBesideEachOther(t *testing.T) {
	const lanes, rounds = 4, 8
	j := shell.NewJobs()
	n := token()
	job, err := j.Start(shell.Options{Line: "(setsid sleep " + n + " >/dev/null 2>&1 &); sleep " + n, Dir: t.TempDir(), SpillDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for lane := range lanes {
		wg.Go(func() {
			for round := range rounds {
				code := lane*rounds + round
				line := fmt.Sprintf("setsid sleep %s >/dev/null 2>&1 & sleep 0.0%d; echo %d; exit %d", token(), round, code, code)
				res, err := j.Run(t.Context(), shell.Options{Line: line, Dir: "/"})
				if err != nil || res.ExitCode != code || res.Output != fmt.Sprintln(code) || len(res.Notes) != 1 {
					t.Errorf("command %d: %+v, %v", code, res, err)
				}
			}
		})
	}
	wg.Wait()
	if got := alive(t, n); len(got) != 2 { // the shell, as its last sleep, and the process in a new session
		t.Errorf("of the job are alive: %q", got)
	}
	if _, err := j.Kill(job.ID); err != nil {
		t.Error(err)
	}
	closeJobs(t, j)
	expectNothingLeft(t, n)
}

// TestNothingLeaks: after commands of every kind, the numbers of open files and children
// are unchanged.
func TestNothingLeaks(t *testing.T) {
	j := shell.NewJobs()
	defer closeJobs(t, j)
	round := func() {
		for _, line := range []string{"true", "echo x; exit 1", "sleep 1000 &", "(setsid true &)", "setsid -f true"} {
			if _, err := j.Run(t.Context(), shell.Options{Line: line, Dir: "/", SpillDir: t.TempDir(), Limit: 10}); err != nil {
				t.Fatal(err)
			}
		}
	}
	round()
	before := openFiles(t)
	for range 5 {
		round()
	}
	if after := openFiles(t); after > before+2 {
		t.Errorf("%d open files, %d before", after, before)
	}
	// Zombies without a trace of a command are reaped once they are old.
	deadline := time.Now().Add(20 * time.Second)
	for children(t) != "" && time.Now().Before(deadline) {
		if _, err := j.Run(t.Context(), shell.Options{Line: "true", Dir: "/"}); err != nil {
			t.Fatal(err)
		}
	}
	if left := children(t); left != "" {
		t.Errorf("unreaped children: %s", left)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

// TestHostileName: the name of a process cannot write into a note.
func TestHostileName(t *testing.T) {
	dir := t.TempDir()
	n := token()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sleep, filepath.Join(dir, "a) \x1b[31m\n")); err != nil {
		t.Fatal(err)
	}
	res := run(t, shell.Options{Line: "$'./a) \\e[31m\\n' " + n + " &", Dir: dir})
	if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "a) ?[31m? (pid ") {
		t.Errorf("notes %q", res.Notes)
	}
	expectNothingLeft(t, n)
}
