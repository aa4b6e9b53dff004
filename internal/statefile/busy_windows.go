package statefile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Busy reports whether err may mean that another program holds a file open.
func Busy(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
