package workspace

import (
	"fmt"
	"io/fs"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// Becomes returns the change that gives the file at an absolute path without links the content
// data, text or not; nil removes the file. mode is that of a new file. over, if not nil, is
// the pending change of the file, which the result goes on from.
func (r *Root) Becomes(path string, data []byte, mode fs.FileMode, over *Change) (Change, error) {
	file, err := r.asOf(path, over)
	if err != nil {
		return Change{}, err
	}
	c := Change{File: file, Delete: data == nil}
	switch {
	case c.Delete:
		return c, nil
	case len(data) > MaxFileSize:
		return Change{}, fmt.Errorf("%s: %w: %d bytes, the limit is %d", file.Name, ErrTooLarge, len(data), MaxFileSize)
	case !file.Exists:
		c.Mode = mode.Perm()
		var content string
		if c.Format, content, err = text.Decode(data, r.files.unmarked(place{abs: path})); err == nil {
			c.After = content
			return c, nil
		}
	case file.Raw == nil:
		if c.After, err = text.DecodeAs(data, file.Format); err == nil {
			return c, nil
		}
		if c.Raw, err = file.content(); err != nil {
			return Change{}, fmt.Errorf("%s: %w", file.Name, err)
		}
		c.Text = Describe(c.Raw)
	}
	c.Format, c.After, c.RawAfter = Format{Encoding: Binary}, Describe(data), data
	return c, nil
}

// asOf returns the file at path as the base of a change.
func (r *Root) asOf(path string, over *Change) (File, error) {
	p, err := r.files.resolve(path)
	switch {
	case err != nil:
		return File{}, err
	case p.abs != path:
		return File{}, fmt.Errorf("%s: its path contains a symlink", p.name)
	case over != nil:
		f := over.File
		f.Exists, f.Text, f.Raw, f.Path, f.Name = !over.Delete && (over.To == "" || over.To == path), over.After, over.RawAfter, p.abs, p.name
		return f, nil
	case p.info != nil:
		return r.Removable(path)
	case p.folder == nil:
		return File{}, fmt.Errorf("%s cannot be written: it is %w", p.name, ErrOutside)
	}
	return r.files.base(p)
}
