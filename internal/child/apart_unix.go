//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// Apart gives cmd a session of its own, so that the keys of the terminal do not reach it.
func Apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// KillGroup kills the rest of the processes of cmd, which was started Apart.
func KillGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // usually nothing is left
}

// startGroup starts cmd, which Apart has put into a group of its own.
func startGroup(cmd *exec.Cmd) (ended func(), err error) { return func() {}, cmd.Start() }
