package peertest

import (
	"os"
	"syscall"
	"testing"
)

// another returns how a process of another user is started.
func another(tb testing.TB) *syscall.SysProcAttr {
	tb.Helper()
	if os.Getuid() != 0 {
		tb.Skip("a second user takes root")
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: UID, Gid: UID}, Pdeathsig: syscall.SIGKILL}
}
