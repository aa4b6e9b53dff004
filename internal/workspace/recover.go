package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// recover finishes the segments of processes that died: it cuts a torn tail,
// finds out what came of each entry, and removes temp files and empty folders
// that were left. A segment whose process lives is left alone.
func (j *journal) recover() error {
	list, err := j.segments(liveExt)
	if err != nil {
		return err
	}
	for _, item := range list {
		if err := recoverSegment(filepath.Join(j.dir, base(item.Name()))); err != nil {
			return fmt.Errorf("%s: %w", item.Name(), err)
		}
	}
	return nil
}

// recoverSegment finishes one segment, given without its extension, if nobody
// holds it.
func recoverSegment(path string) error {
	lock, err := statefile.TryAcquire(path + lockExt)
	if errors.Is(err, statefile.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	err = finishSegment(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // another process was faster
	}
	return errors.Join(err, lock.Release(), ignoreMissing(os.Remove(path+lockExt)))
}

func finishSegment(path string) error {
	f, err := os.OpenFile(path+liveExt, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	rs, err := scan(f)
	if err == nil {
		err = f.Truncate(rs.end)
	}
	if err == nil {
		err = rs.settle(f)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(path+liveExt, path+logExt)
}

// settle writes the missing outcomes to f.
func (rs *records) settle(f *os.File) error {
	for _, e := range rs.entries {
		if _, known := rs.done[e.ID]; known {
			continue
		}
		done := e.onDisk()
		if err := e.sweep(done); err != nil {
			return err
		}
		data, err := encodeJSON(outcomeRecord, outcome{ID: e.ID, Done: done})
		if err != nil {
			return err
		}
		if _, err := f.WriteAt(data, rs.end); err != nil {
			return err
		}
		rs.end += int64(len(data))
	}
	return nil
}

// sweep removes what an interrupted entry left: its temp file, which it alone
// can have made, and folders that it made for nothing. What cannot be removed
// (the folder became read-only) is no reason not to start.
func (e *entry) sweep(done bool) error {
	dir, err := os.OpenRoot(filepath.Dir(e.Path))
	if err == nil {
		e.removeTemp(dir)
		if err := dir.Close(); err != nil {
			return err
		}
	}
	if done || len(e.Dirs) == 0 {
		return nil
	}
	parent := filepath.Dir(e.Dirs[0])
	root, err := os.OpenRoot(parent)
	if err != nil {
		return nil //nolint:nilerr // the folders' parent is gone: so are they
	}
	f := folder{parent, root}
	f.removeEmpty(e.Dirs)
	return root.Close()
}

func (e *entry) removeTemp(dir *os.Root) {
	if !strings.HasPrefix(e.Temp, tempPrefix) || filepath.Base(e.Temp) != e.Temp {
		return
	}
	if info, err := dir.Lstat(e.Temp); err == nil && info.Mode().IsRegular() {
		_ = dir.Remove(e.Temp) // see sweep
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
