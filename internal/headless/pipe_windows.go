package headless

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isBroken reports whether a write failed because the reader of the pipe has gone.
func isBroken(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
