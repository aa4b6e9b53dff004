//go:build unix

package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Private removes the rights of other users to a folder of ours and returns a sentence on
// what they could do before; "" if nothing, or if there is no folder. It returns an error
// for a folder that belongs to another user, and for one that others could write to and
// that holds a file of another user.
func Private(dir string) (open string, err error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	perm := info.Mode().Perm()
	switch {
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a folder", dir)
	case !ours(info):
		return "", fmt.Errorf("%s belongs to another user", dir)
	case perm&0o077 == 0:
		return "", nil
	}
	open = "read"
	if perm&0o022 != 0 {
		open = "write to"
		if err := allOurs(dir); err != nil {
			return "", err
		}
	}
	open = fmt.Sprintf("other users could %s %s (mode %o)", open, dir, perm)
	if err := os.Chmod(dir, dirMode); err != nil {
		return "", fmt.Errorf("%s, and it cannot be made private: %w", open, err)
	}
	return open, nil
}

// allOurs fails if a folder holds a file of another user.
func allOurs(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !ours(info) {
			err = fmt.Errorf("other users can write to %s, and %s belongs to one of them", dir, path)
		}
		return err
	})
}

func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
