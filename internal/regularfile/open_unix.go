//go:build unix

package regularfile

import "golang.org/x/sys/unix"

// noWait keeps opening from waiting for the other end of a pipe.
const noWait = unix.O_NONBLOCK
