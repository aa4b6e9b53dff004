//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// apart gives cmd a session of its own, so that the keys of the terminal do not reach it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// killGroup kills the rest of the program's group.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // usually nothing is left
}
