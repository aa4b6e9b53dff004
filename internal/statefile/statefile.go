// Package statefile keeps the program's own files under the user's home. It
// guarantees that a file is written whole or not at all, that it survives a
// crash once Write has returned, and that files are 0600 and folders 0700 from
// their creation, whatever the umask.
package statefile

import (
	"context"
	"errors"
	"os"
)

// Mkdir makes dir and its missing parents, each with mode 0700.
func Mkdir(dir string) error { return errors.ErrUnsupported }

// Write replaces the file at path by data, durably. Missing folders are made.
func Write(path string, data []byte) error { return errors.ErrUnsupported }

// OpenAppend opens the file at path for reading and appending and makes it if
// it is missing. Each Write to it goes to its end.
func OpenAppend(path string) (*os.File, error) { return nil, errors.ErrUnsupported }

// SyncDir makes the names in dir durable.
func SyncDir(dir string) error { return errors.ErrUnsupported }

// Lock is an exclusive lock that one process holds. The system releases it if
// the process dies.
type Lock struct{}

// ErrLocked is returned by TryAcquire if another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// TryAcquire takes the lock kept in the file at path, or returns ErrLocked.
func TryAcquire(path string) (*Lock, error) { return nil, errors.ErrUnsupported }

// Acquire waits for the lock until ctx ends.
func Acquire(ctx context.Context, path string) (*Lock, error) { return nil, errors.ErrUnsupported }

// Release gives the lock back. The file stays.
func (l *Lock) Release() error { return errors.ErrUnsupported }
