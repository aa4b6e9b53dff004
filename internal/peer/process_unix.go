//go:build unix

package peer

import (
	"errors"

	"golang.org/x/sys/unix"
)

// signalled says what an attempt to signal a process tells of its owner.
func signalled(err error) Owner {
	switch {
	case errors.Is(err, unix.ESRCH):
		return Nobody
	case errors.Is(err, unix.EPERM):
		return Another
	}
	return Unknown
}
