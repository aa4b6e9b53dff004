package statefile

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked is returned by TryAcquire if another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// retry is the interval at which Acquire tries.
const retry = 2 * time.Millisecond

// Lock is an exclusive lock that one process holds. The system releases it if
// the process dies.
type Lock struct{ file *flock.Flock }

// TryAcquire takes the lock of the file at path, or returns ErrLocked.
func TryAcquire(path string) (*Lock, error) {
	return acquire(path, func(l *Lock) error {
		ok, err := l.file.TryLock()
		if err == nil && !ok {
			err = ErrLocked
		}
		return err
	})
}

// Held reports whether any process, this one included, holds the lock of the file at
// path. It shares the lock for a moment to find out.
func Held(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	l := flock.New(path, flock.SetPermissions(fileMode))
	ok, err := l.TryRLock()
	return errors.Join(err, l.Close()) == nil && !ok
}

// Acquire waits for the lock until ctx ends.
func Acquire(ctx context.Context, path string) (*Lock, error) {
	return acquire(path, func(l *Lock) error {
		_, err := l.file.TryLockContext(ctx, retry)
		return err
	})
}

// acquire returns a lock that take has taken.
func acquire(path string, take func(*Lock) error) (*Lock, error) {
	l := &Lock{flock.New(path, flock.SetPermissions(fileMode))}
	if err := inFolder(path, func() error { return take(l) }); err != nil {
		return nil, err
	}
	return l, nil
}

// Release releases the lock. The file stays.
func (l *Lock) Release() error { return l.file.Unlock() }

// Remove removes the lock's file, then releases the lock: in this order nobody can lock a
// file that is about to go. If open files cannot be removed, as on Windows, it removes the file after
// the release.
func (l *Lock) Remove() error { return l.remove(os.Remove, remove) }

// remove tries once before the release: on Windows the lock itself keeps the file, however long one waits.
func (l *Lock) remove(once, patiently func(path string) error) error {
	first := once(l.file.Path())
	err := l.file.Unlock()
	if first != nil {
		err = errors.Join(err, patiently(l.file.Path()))
	}
	return err
}
