package workspace

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// newFile describes a missing file.
var newFile = File{Format: Format{Encoding: UTF8, EOL: "\n"}, Mode: 0o644}

// Read returns a whole text file. Errors: fs.ErrNotExist, ErrOutside, ErrGuarded,
// ErrNotRegular, ErrTooLarge, ErrNotText.
func (r *Root) Read(path string) (File, error) {
	p, err := r.files.resolve(path)
	if err != nil {
		return File{}, err
	}
	if err := r.files.guardedPlace(p); err != nil {
		return File{}, err
	}
	return r.files.whole(p)
}

// whole reads the text file at p.
func (fl *files) whole(p place) (File, error) {
	f, info, err := fl.open(p)
	if err != nil {
		return File{}, err
	}
	file, err := fl.read(p, f, info)
	return file, errors.Join(err, f.Close())
}

// Raw returns the file at a resolved path, without its text, and its bytes. A missing
// file is no error, and a file with another spelling of the name is another. The error is ErrStale if a
// symlink has appeared in the path.
func (r *Root) Raw(path string) (File, []byte, error) {
	p, err := r.files.resolve(path)
	if err != nil {
		return File{}, nil, err
	}
	if p.abs != path {
		if other, err := respelled(path); err != nil || other {
			return File{Path: path, Name: r.files.named(path)}, nil, err
		}
		return File{}, nil, fmt.Errorf("%w: its path contains a symlink now", ErrStale)
	}
	file := File{Path: p.abs, Name: p.name}
	if p.info == nil {
		return file, nil, nil
	}
	f, info, err := r.files.open(p)
	if err != nil {
		return File{}, nil, errors.Join(ErrStale, err)
	}
	data, err := readAll(f, info.Size())
	if err = errors.Join(err, f.Close()); err != nil {
		return File{}, nil, err
	}
	file.Exists, file.Mode, file.Size, file.Hash = true, info.Mode(), int64(len(data)), sha256.Sum256(data)
	return file, data, nil
}

// read reads the open file at p.
func (fl *files) read(p place, f *os.File, info fs.FileInfo) (File, error) {
	data, err := readAll(f, info.Size())
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", p.name, err)
	}
	format, content, err := text.Decode(data, fl.unmarked(p))
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", p.name, err)
	}
	return File{
		Path: p.abs, Name: p.name, Exists: true, Text: content, Format: format,
		Hash: sha256.Sum256(data), Mode: info.Mode(), Size: int64(len(data)),
	}, nil
}

// open opens the regular file at p for reading. It opens no device and does not wait for
// the other end of a pipe.
func (fl *files) open(p place) (*os.File, fs.FileInfo, error) {
	if p.folder == nil && fl.outside.By(p.abs) == "" {
		return nil, nil, fmt.Errorf("%s is %w", p.name, ErrOutside)
	}
	if p.info == nil {
		return nil, nil, &fs.PathError{Op: "open", Path: p.name, Err: fs.ErrNotExist}
	}
	if err := regular(p.name, p.info); err != nil {
		return nil, nil, err
	}
	var f *os.File
	var err error
	if p.folder != nil {
		f, err = p.folder.root.OpenFile(p.rel, os.O_RDONLY|noWait, 0)
	} else {
		f, err = os.OpenFile(p.abs, os.O_RDONLY|noWait|noFollow, 0)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(p.name, info) // another file may have replaced it
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// regular returns an error that names what info describes unless it is a regular file.
func regular(name string, info fs.FileInfo) error {
	var kind string
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case mode&fs.ModeSymlink != 0:
		kind = "a symlink"
	default:
		kind = "a special file"
	}
	return fmt.Errorf("%s is %s: %w", name, kind, ErrNotRegular)
}

// readAll reads f from its start: size bytes, or more if it has grown.
func readAll(f io.ReaderAt, size int64) ([]byte, error) {
	if size > MaxFileSize {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, MaxFileSize)
	}
	data := make([]byte, size+1)
	n, err := f.ReadAt(data, 0)
	if err == nil { // it has grown: read it all, up to the limit
		data = make([]byte, MaxFileSize+1)
		if n, err = f.ReadAt(data, 0); err == nil {
			return nil, fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, MaxFileSize)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n:n], nil
}
