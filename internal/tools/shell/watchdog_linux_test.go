package shell_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// watchedTrees returns the commands that a watchdog finds.
func watchedTrees() map[string]string {
	all := map[string]string{"output alone": `(env -i setsid sleep TOKEN &)`}
	for name, line := range trees {
		all[name] = line
	}
	return all
}

// watchdogs returns the pids of our watchdogs.
func watchdogs(t *testing.T) (pids []string) {
	t.Helper()
	for _, pid := range strings.Fields(children(t)) {
		line, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
		if err == nil && strings.HasPrefix(string(line), "watchdog\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func signalPid(t *testing.T, pid string, sig syscall.Signal) {
	t.Helper()
	id, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(id, sig); err != nil {
		t.Fatal(err)
	}
}

// TestWatchdogIsStartedWhenItIsNeeded: not before the first command, again after it was
// killed, and it is gone after Close. Commands do not notice.
func TestWatchdogIsStartedWhenItIsNeeded(t *testing.T) {
	j := watchedJobs(t)
	line := "(setsid true &); echo hello"
	run := func() {
		t.Helper()
		res, err := j.Run(t.Context(), shell.Options{Line: line, Dir: "/"})
		if err != nil || res.Output != "hello\n" || len(res.Notes) != 0 {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if got := watchdogs(t); got != nil {
		t.Errorf("before any command: %q", got)
	}
	run()
	first := watchdogs(t)
	run()
	if second := watchdogs(t); len(first) != 1 || len(second) != 1 || first[0] != second[0] {
		t.Fatalf("%q, then %q", first, second)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} { // ignored
		signalPid(t, first[0], sig)
	}
	run()
	if got := watchdogs(t); len(got) != 1 || got[0] != first[0] {
		t.Errorf("after it was asked to end: %q", got)
	}
	n := token()
	if _, err := j.Start(shell.Options{Line: "sleep " + n, Dir: "/", SpillDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	signalPid(t, first[0], syscall.SIGKILL)
	within(t, 30*time.Second, "it cannot be killed", func() bool { return watchdogs(t) == nil })
	run()
	if got := watchdogs(t); len(got) != 1 || got[0] == first[0] {
		t.Errorf("after it was killed: %q", got)
	}
	if len(alive(t, n)) == 0 {
		t.Error("a command went with the watchdog")
	}
	line = "echo hello"
	within(t, 20*time.Second, "zombies are left", func() bool {
		run()
		return len(strings.Fields(children(t))) == 2 // the job and the watchdog
	})
	closeJobs(t, j)
	if got := watchdogs(t); got != nil {
		t.Errorf("after the end: %q", got)
	}
	expectNothingLeft(t, n)
}

// TestAMissingWatchdogIsReportedOnce: without a watchdog commands run, and the first one notes it.
func TestAMissingWatchdogIsReportedOnce(t *testing.T) {
	j := shell.NewJobs()
	defer closeJobs(t, j)
	j.Watchdog("/nowhere/at/all", "watchdog")
	for i, want := range []int{1, 0} {
		res, err := j.Run(t.Context(), shell.Options{Line: "echo hello", Dir: "/"})
		if err != nil || res.Output != "hello\n" || len(res.Notes) != want {
			t.Errorf("command %d: %+v, %v", i, res, err)
		}
		if want > 0 && !strings.Contains(strings.Join(res.Notes, ""), "no watchdog could be started (") {
			t.Errorf("%q", res.Notes)
		}
	}
}

// TestKilledProgramLeavesNothing kills a program that runs commands of every kind: five
// seconds later their processes and the watchdog are gone, and processes of others are
// not.
func TestKilledProgramLeavesNothing(t *testing.T) {
	stranger := exec.Command("sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stranger.Process.Kill(); err != nil {
			t.Error("a process that is no command's was ended:", err)
		}
		_ = stranger.Wait()
	}()
	all := watchedTrees()
	var group sync.WaitGroup
	for range 3 {
		for name, line := range all {
			group.Go(func() { killed(t, name, line) })
		}
	}
	group.Wait()
	j := shell.NewJobs()
	defer closeJobs(t, j)
	within(t, 20*time.Second, "the dead that this program adopted are left", func() bool {
		if _, err := j.Run(t.Context(), shell.Options{Line: "true", Dir: "/"}); err != nil {
			t.Error(err)
		}
		return len(strings.Fields(children(t))) == 1 // the stranger
	})
}

// killed makes a program run one command, kills the program, and looks.
func killed(t *testing.T, name, line string) {
	n := token()
	dir := t.TempDir()
	up := dir + "/up"
	line = strings.ReplaceAll(line, "TOKEN", n) + "\n echo > " + up + "; sleep " + n
	program := exec.Command(executable(t), asVictim, dir, line)
	out, err := program.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	if err := program.Start(); err != nil {
		t.Error(err)
		return
	}
	if !bufio.NewScanner(out).Scan() {
		t.Errorf("%s: the program did not start", name)
	}
	within(t, 20*time.Second, name+" does not run", func() bool {
		_, err := os.Stat(up)
		return err == nil
	})
	if len(alive(t, n)) < 3 { // the program, the shell, and the tree
		t.Errorf("%s: alive before the kill: %q", name, alive(t, n))
	}
	if err := program.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = program.Wait()
	within(t, 30*time.Second, name+" outlives the program", func() bool { return alive(t, n) == nil })
	for _, left := range alive(t, n) {
		t.Errorf("%s: left %s", name, left)
	}
}

// within polls for at most limit: there is no event for the end of other processes.
func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Error(what)
			return
		}
	}
}
