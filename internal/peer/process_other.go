//go:build unix && !linux && !darwin

package peer

import "golang.org/x/sys/unix"

// Process says whose a process is. One that this user may signal is not certain to
// be this user's.
func Process(pid int) Owner {
	if pid <= 0 {
		return Unknown
	}
	return signalled(unix.Kill(pid, 0))
}
