//go:build !linux

package peertest

import (
	"syscall"
	"testing"
)

// another skips the test: only Linux can run it.
func another(tb testing.TB) *syscall.SysProcAttr {
	tb.Helper()
	tb.Skip("only Linux runs tests as a second user")
	return nil
}
