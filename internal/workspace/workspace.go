// Package workspace is the only door to the user's files. It guarantees that no read or
// write leaves the roots it was opened with, that a file is written whole or not at all,
// and only if it still holds what the change was computed from, and that the undo journal
// has the old content first.
package workspace

import (
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// Errors that callers branch on.
var (
	// ErrOutside is returned for a path outside every root.
	ErrOutside = errors.New("outside the workspace")
	// ErrGuarded is returned for a file that Root.Guard keeps from tools.
	ErrGuarded = errors.New("it is not read without the user's consent")
	// ErrStale is returned by Commit if the file is not the reviewed one: it was changed,
	// deleted, created or replaced since.
	ErrStale = errors.New("the file changed since it was read")
	// ErrNotDurable is returned by Commit for a file that was written, but whose new name
	// may not be on the disk yet.
	ErrNotDurable = errors.New("was written, but a power failure may still undo that")
	// ErrNotText is returned for files that cannot be edited as text.
	ErrNotText = text.ErrNotText
	// ErrTooLarge is returned for files above MaxFileSize.
	ErrTooLarge = errors.New("file too large")
	// ErrNotRegular is returned for directories, pipes, devices and sockets.
	ErrNotRegular = errors.New("not a regular file")
	// ErrUnencodable is returned when a text cannot be stored in the file's encoding.
	ErrUnencodable = text.ErrUnencodable
)

// detaches returns the error of replacing a file with n names; nil for one.
func detaches(n int) error {
	if n <= 1 {
		return nil
	}
	return fmt.Errorf("it has %d names (hard links), and replacing it would detach this name from the rest", n)
}

// manyNames is detaches for a proposal, with what to do instead.
func manyNames(n int) error {
	if err := detaches(n); err != nil {
		return fmt.Errorf("%w: edit it with a command, or make it a separate file first", err)
	}
	return nil
}
