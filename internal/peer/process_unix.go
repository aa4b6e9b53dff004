//go:build unix

package peer

import (
	"errors"

	"golang.org/x/sys/unix"
)

// signalled derives the owner of a process from the error of signalling it.
func signalled(err error) Owner {
	switch {
	case errors.Is(err, unix.ESRCH):
		return Nobody
	case errors.Is(err, unix.EPERM):
		return Another
	}
	return Unknown
}
