//go:build unix && !linux && !darwin

package peer

import "golang.org/x/sys/unix"

// Process reports who runs a process. If this user may signal it, the
// owner is Unknown: the process may still be another user's.
func Process(pid int) Owner {
	if pid <= 0 {
		return Unknown
	}
	return signalled(unix.Kill(pid, 0))
}
