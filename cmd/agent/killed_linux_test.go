package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

const killedScript = `
turns:
  - when: {prompt_contains: work}
    calls: [{tool: execute_command, args: {background: true, command: "echo $$ >job.new && mv job.new job && sleep 300 & wait"}}]
  - when: {prompt_contains: work}
    calls: [{tool: execute_command, args: {command: "(trap '' TERM; setsid sh -c 'echo $$ >far.new && mv far.new far && sleep 300; sleep 300' >/dev/null 2>&1 &); echo $$ >pid.new && mv pid.new pid && sleep 300; true"}}]
`

// TestKilledProgramLeavesNoCommand: SIGKILL leaves the program no time to clean up, yet
// five seconds later none of its commands runs and its watchdog is gone. The program
// runs as a user who may not inspect its process.
func TestKilledProgramLeavesNoCommand(t *testing.T) {
	t.Parallel()
	dir := scratch.Public(t)
	if err := os.WriteFile(filepath.Join(dir, "script.yaml"), []byte(killedScript), 0o644); err != nil { // the program reads it as another user
		t.Fatal(err)
	}
	cmd := agentIn(t, dir, "-p", "work", "--permission-mode", "bypass")
	cmd.Path = copyOf(t, cmd.Path, dir)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for _, name := range []string{"job", "far", "pid"} {
		pids[name] = pidIn(t, filepath.Join(dir, name))
	}
	if dogs := watchdogsIn(t, dir); len(dogs) != 1 {
		t.Errorf("watchdogs: %q", dogs)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); len(pids)+len(watchdogsIn(t, dir)) > 0; {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after a minute are there: commands %v, watchdogs %q", pids, watchdogsIn(t, dir))
		}
		for name, pid := range pids {
			if ended(pid) {
				delete(pids, name)
			}
		}
	}
}

// watchdogsIn lists the watchdogs started from a copy of the program in dir.
func watchdogsIn(t *testing.T, dir string) (pids []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range lines {
		line, err := os.ReadFile(file)
		if err != nil || !strings.HasSuffix(string(line), "\x00end-commands-when-killed\x00") {
			continue
		}
		if exe, err := os.Readlink(filepath.Join(filepath.Dir(file), "exe")); err == nil && strings.HasPrefix(exe, dir) {
			pids = append(pids, filepath.Dir(file))
		}
	}
	return pids
}
