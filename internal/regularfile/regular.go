// Package regularfile reads files that anybody may have put in place. It guarantees
// that only regular files are read, up to a limit, and that no read waits for the other end
// of a pipe.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Errors that callers branch on, wrapped in an *fs.PathError.
var (
	// ErrNotRegular is returned for anything but a regular file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is returned for a file larger than the limit.
	ErrTooLarge = errors.New("too large")
	// ErrNotFolder is returned for anything but a folder.
	ErrNotFolder = errors.New("not a folder")
)

// ReadFile returns the content of a file of at most limit bytes. It follows links.
func ReadFile(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	return read(name, limit, info, err, func() (fs.File, error) { return os.OpenFile(name, os.O_RDONLY|noWait, 0) })
}

// ReadIn is ReadFile for a file in root, which links cannot leave.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Stat(name)
	return read(name, limit, info, err, func() (fs.File, error) { return root.OpenFile(name, os.O_RDONLY|noWait, 0) })
}

// ReadFS is ReadFile for a file of fsys, which must have a Stat or an Open that does not
// block: without Stat, as after fs.Sub, fs.Stat opens the file.
func ReadFS(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	return read(name, limit, info, err, func() (fs.File, error) { return fsys.Open(name) })
}

// Same reports whether two paths lead to the same file or folder.
func Same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// OpenFolder opens a folder in root.
func OpenFolder(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotFolder}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// read checks the file before it opens it, because opening a device may have effects, and
// again afterwards, because another file may have replaced it.
func read(name string, limit int64, info fs.FileInfo, err error, open func() (fs.File, error)) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if err := fit(name, info, limit); err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := fit(name, info, limit); err != nil {
		return nil, err
	}
	data, err := ReadAll(f, limit) // the file may be growing, or have no size, as in /proc
	if errors.Is(err, ErrTooLarge) {
		err = &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, err
}

// ReadAll reads r to its end. After limit bytes it returns them and ErrTooLarge.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return data[:limit], tooLarge(limit)
	}
	return data, err
}

// tooLarge is the ErrTooLarge that names the limit.
func tooLarge(limit int64) error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit) }

// fit returns why a file must not be read.
func fit(name string, info fs.FileInfo, limit int64) error {
	switch {
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "read", Path: name, Err: ErrNotRegular}
	case info.Size() > limit:
		return &fs.PathError{Op: "read", Path: name, Err: tooLarge(limit)}
	}
	return nil
}
