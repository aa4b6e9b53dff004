// Package statefile stores the program's own files under the user's home. It guarantees
// that a file is written whole or not at all, that it survives a crash once Write has
// returned, and that files are 0600 and folders 0700 from their creation, whatever the
// umask.
package statefile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Modes of new files and folders.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// Mkdir makes dir and its missing parents, each with mode 0700. It does not change
// existing folders.
func Mkdir(dir string) error {
	err := os.Mkdir(dir, dirMode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return isDir(dir)
	case errors.Is(err, fs.ErrNotExist):
		if err := Mkdir(filepath.Dir(dir)); err != nil {
			return err
		}
		if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	case err != nil:
		return err
	}
	return os.Chmod(dir, dirMode) // the umask may have removed bits
}

// inFolder calls create, which makes the file at path, and once more with its folders made
// if they are missing.
func inFolder(path string, create func() error) error {
	err := create()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := Mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	return create()
}

func isDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
	}
	return err
}

// Write replaces the file at path by data, durably: first the data, then the name. It
// makes missing folders. If path is a symlink, Write replaces its target and keeps the
// link. After an error the file is unchanged.
func Write(path string, data []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir := filepath.Dir(path)
	if err := Mkdir(dir); err != nil {
		return err
	}
	temp := filepath.Join(dir, ".agent-"+rand.Text()+".tmp")
	if err := writeNew(temp, data); err != nil {
		return errors.Join(err, remove(temp))
	}
	if err := Patiently(func() error { return os.Rename(temp, path) }); err != nil {
		return errors.Join(err, remove(temp))
	}
	return SyncDir(dir)
}

// writeNew creates the file at path and syncs data to it.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(fileMode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// remove removes path if it exists.
func remove(path string) error {
	if err := Patiently(func() error { return os.Remove(path) }); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// OpenAppend opens the file at path for reading and appending, and creates it and its
// folders if missing. Each write goes to the end. If others may read the file, OpenAppend
// makes it private.
func OpenAppend(path string) (f *os.File, err error) {
	err = inFolder(path, func() error {
		return Patiently(func() error {
			f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, fileMode)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if err := private(f); err != nil {
		return nil, errors.Join(fmt.Errorf("keep %s private: %w", path, err), f.Close())
	}
	return f, nil
}

// private removes the rights of others to f.
func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Mode().Perm() == fileMode {
		return err
	}
	return f.Chmod(fileMode)
}
