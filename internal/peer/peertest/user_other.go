//go:build !linux

package peertest

import (
	"syscall"
	"testing"
)

// another skips the test: there is no way to another user here.
func another(tb testing.TB) *syscall.SysProcAttr {
	tb.Helper()
	tb.Skip("a second user is tried on Linux alone")
	return nil
}
