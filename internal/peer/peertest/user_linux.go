package peertest

import (
	"os"
	"syscall"
	"testing"
)

// another returns the attributes of a process of another user.
func another(tb testing.TB) *syscall.SysProcAttr {
	tb.Helper()
	if os.Getuid() != 0 {
		tb.Skip("only root can run a program as another user")
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: UID, Gid: UID}, Pdeathsig: syscall.SIGKILL}
}
