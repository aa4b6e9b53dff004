//go:build unix

package headless

import (
	"errors"
	"syscall"
)

// isBroken reports whether a write failed because the reader of the pipe has gone.
func isBroken(err error) bool { return errors.Is(err, syscall.EPIPE) }
