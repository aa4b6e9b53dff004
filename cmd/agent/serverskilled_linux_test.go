package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// withArgument returns the processes with an argument.
func withArgument(t *testing.T, argument string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		line, err := os.ReadFile(file) // a zombie has none
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && slices.Contains(strings.Split(string(line), "\x00"), argument) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestServersEndWithAKilledAgent: MCP servers that outlive their standard input, and what
// they started, end when the agent is killed, before and after its first command.
func TestServersEndWithAKilledAgent(t *testing.T) {
	t.Parallel()
	for name, turns := range map[string][]llmtest.Turn{
		"no command": {{Text: "Done."}},
		"a command":  {callOf("execute_command", `{"command":"pwd"}`), {Text: "Done."}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t, turns...), nil)
			mark := "mark=" + filepath.Base(t.TempDir()) + strconv.Itoa(os.Getpid()) + strings.ReplaceAll(name, " ", "")
			d.servers("t stubborn "+mark, "u stubborn "+mark)
			d.sit()
			d.say("go")
			d.WaitFor(`Done\.`)
			if all := withArgument(t, mark); len(all) < 2 {
				t.Fatalf("the servers run as %v", all)
			}
			d.Signal(syscall.SIGKILL)
			late := time.NewTimer(30 * time.Second)
			defer late.Stop()
			for left := withArgument(t, mark); len(left) > 0; left = withArgument(t, mark) {
				select {
				case <-late.C:
					t.Fatalf("left are %v", left)
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
}
