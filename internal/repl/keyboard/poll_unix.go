//go:build unix

package keyboard

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// readable reports whether f has input, or has it within wait.
func readable(f *os.File, wait time.Duration) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(wait.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0 && fds[0].Revents&unix.POLLIN != 0
		}
	}
}
