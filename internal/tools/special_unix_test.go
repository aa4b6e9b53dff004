//go:build unix

package tools

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// specialFiles makes irregular files below dir and returns the word for each.
func specialFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // a socket's path must be short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"pipe": "pipe is a pipe", "socket": "socket is a socket", "dangling": "dangling does not exist", "/dev/zero": "/dev/zero is a device",
	}
}
