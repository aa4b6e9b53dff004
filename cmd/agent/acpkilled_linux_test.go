package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

func init() { //nolint:gochecknoinits // other systems have no such program
	programs["relay"] = relay
}

// TestKilledHost: five seconds after SIGKILL of the host, the agent, its commands and its
// watchdog are gone.
func TestKilledHost(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		callOf("execute_command", `{"background":true,"command":"echo $$ >job.new && mv job.new job && sleep 300 & wait"}`),
		callOf("execute_command", `{"command":"(setsid sh -c 'echo $$ >far.new && mv far.new far && sleep 300; sleep 300' >/dev/null 2>&1 &); echo $$ >pid.new && mv pid.new pid && while :; do echo x; sleep 1; done"}`),
	), nil)
	agent := copyOf(t, "agent", d.dir)
	h := d.hostBy(exec.Command("relay", agent, "acp"))
	h.answer = func(map[string]any) string { return "allow-once" }
	got := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}})
	h.begin("session/prompt", map[string]any{"sessionId": got.Result["sessionId"], "prompt": h.text("work")})
	go func() { // until the relay ends
		for h.out.Scan() {
			h.took()
		}
	}()
	pids := map[string]int{}
	for _, name := range []string{"agent.pid", "job", "far", "pid"} {
		pids[name] = pidIn(t, d.path(name))
	}
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait() // it was killed
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); len(pids)+len(watchdogsIn(t, d.dir)) > 0; {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after a minute are there: %v, watchdogs %q", pids, watchdogsIn(t, d.dir))
		}
		for name, pid := range pids {
			if ended(pid) {
				delete(pids, name)
			}
		}
	}
}

// relay is a host that passes on the messages of a test. Its first argument is the agent.
func relay() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if err := os.WriteFile("agent.new", fmt.Append(nil, cmd.Process.Pid), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename("agent.new", "agent.pid"); err != nil {
		panic(err)
	}
	go func() {
		_, _ = os.Stdin.WriteTo(in)
		_ = in.Close()
	}()
	_, _ = os.Stdout.ReadFrom(out)
	_ = cmd.Wait()
}

// ended reports whether a process has ended, even if nobody has waited for it.
func ended(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}
