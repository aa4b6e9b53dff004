//go:build unix

package shell

import (
	"os"
	"os/exec"
	"syscall"
)

// shells are the places where bash is on most systems; the search path, which a
// project can lead, comes last.
var shells = [...]string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"}

// shellCommand returns the command for a line, in a session of its own: without
// a terminal, and with /dev/null as input.
func shellCommand(line string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", line)
	if bash := findBash(); bash != "" {
		cmd = exec.Command(bash, "--noprofile", "--norc", "-c", line)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

func findBash() string {
	for _, path := range shells {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	path, err := exec.LookPath("bash")
	if err != nil {
		return ""
	}
	return path
}

// exitCode is the status as shells count it. There is none (-1) if somebody
// else waited for the shell.
func exitCode(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// signalGroup signals the shell's process group. It fails if the group is empty.
func (c *command) signalGroup(sig syscall.Signal) error {
	return syscall.Kill(-c.cmd.Process.Pid, sig)
}

// terminate asks ps to end, even those that are stopped.
func (c *command) terminate(ps []process) {
	c.signal(ps, syscall.SIGTERM)
	c.signal(ps, syscall.SIGCONT)
}

// kill ends ps.
func (c *command) kill(ps []process) { c.signal(ps, syscall.SIGKILL) }
