//go:build unix

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Flags for reading: do not wait for the other end of a pipe, and do not follow a symlink
// that has replaced a resolved file.
const (
	noWait   = unix.O_NONBLOCK
	noFollow = unix.O_NOFOLLOW
)

func notDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// isLink reports whether a path leads through what info describes to another.
func isLink(info fs.FileInfo) bool { return info.Mode()&fs.ModeSymlink != 0 }

// writable returns why the file at abs must not or cannot be written or created; info is
// nil if it is missing.
func writable(abs string, info fs.FileInfo) error {
	dir := filepath.Dir(abs)
	err := unix.Access(dir, unix.W_OK|unix.X_OK)
	for info == nil && errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir) // the folder is yet to be made: its parent counts
		err = unix.Access(dir, unix.W_OK|unix.X_OK)
	}
	switch {
	case err != nil && info == nil:
		return fmt.Errorf("the folder %s cannot be written: %w", dir, err)
	case info == nil:
		return nil
	case err != nil:
		return fmt.Errorf("its folder cannot be written (%w), which replacing a file needs", err)
	}
	if info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("it is read-only (mode %s): make it writable first if it is meant to be edited: %w", info.Mode(), fs.ErrPermission)
	}
	if err := unix.Access(abs, unix.W_OK); err != nil {
		return fmt.Errorf("it may not be written by this user: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if err := manyNames(int(st.Nlink)); err != nil {
		return err
	}
	if uid := os.Geteuid(); uid != 0 && int(st.Uid) != uid {
		return fmt.Errorf("it belongs to another user (id %d), and replacing it would make it yours: edit it with a command", st.Uid)
	}
	return nil
}

// names returns the number of names of a file.
func names(_ *os.File, info fs.FileInfo) (int, error) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink), nil
	}
	return 1, nil
}

// namesAt returns the number of names of the file called name.
func namesAt(_ *os.Root, _ string, info fs.FileInfo) (int, error) { return names(nil, info) }

// copyOwner sets the owner and group of to as in info.
func copyOwner(to *os.File, info fs.FileInfo) error {
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	now, err := to.Stat()
	if err != nil {
		return err
	}
	have, ok := now.Sys().(*syscall.Stat_t)
	if !ok || (have.Uid == want.Uid && have.Gid == want.Gid) {
		return nil
	}
	if err := to.Chown(int(want.Uid), int(want.Gid)); err != nil {
		return fmt.Errorf("its owner and group cannot be kept: %w", err)
	}
	return nil
}

// readDir lists the open folder dir, whose path is abs.
func readDir(dir *os.File, abs string) ([]fs.DirEntry, error) {
	fd, err := unix.FcntlInt(dir.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	plain := os.NewFile(uintptr(fd), abs)
	list, err := plain.ReadDir(-1)
	return list, errors.Join(err, plain.Close())
}

// syncDir makes the names in the open folder durable.
func syncDir(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncMode makes the mode of a file durable.
func syncMode(f *os.File) error { return f.Sync() }
