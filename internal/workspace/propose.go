package workspace

import (
	"errors"
	"fmt"
)

// Propose computes a change of the file at path: edit gets the file and returns its whole
// new text. For a missing file, edit gets Exists false, UTF-8, "\n" and mode 0644.
// Propose already refuses a file that cannot be written (read-only, hard links, not
// text), with the reason. It returns an error of edit unchanged.
func (r *Root) Propose(path string, edit func(File) (string, error)) (Change, error) {
	p, err := r.files.resolve(path)
	if err != nil {
		return Change{}, err
	}
	if p.folder == nil {
		return Change{}, fmt.Errorf("%s cannot be written: it is %w", p.name, ErrOutside)
	}
	file, err := r.files.base(p)
	if err != nil {
		return Change{}, err
	}
	if file, err = r.buffered(file); err != nil {
		return Change{}, err
	}
	after, err := edit(file)
	if err != nil {
		return Change{}, err
	}
	if _, err := encodeLimited(after, file.Format); err != nil {
		return Change{}, fmt.Errorf("%s: %w", p.name, err)
	}
	return Change{File: file, After: after}, nil
}

// WithEncoding returns c in the encoding in which the editor reads the file, where its bytes do
// not show one: it is new or nothing but ASCII, and c brings the first other characters.
func (r *Root) WithEncoding(c Change) Change {
	if !c.Editable() {
		return c
	}
	c.Format = c.Format.First(c.Text, c.After, c.Exists, r.files.unmarked(place{abs: c.Path}))
	return NewContent(c, c.After)
}

// base returns the file at p as the base of a change.
func (fl *files) base(p place) (File, error) {
	if p.info == nil {
		if err := writable(p.abs, nil); err != nil {
			return File{}, fmt.Errorf("%s cannot be created: %w", p.name, err)
		}
		file := newFile
		file.Path, file.Name = p.abs, p.name
		return file, nil
	}
	f, info, err := fl.open(p)
	if err != nil {
		return File{}, err
	}
	if err := writable(p.abs, info); err != nil {
		return File{}, errors.Join(fmt.Errorf("%s cannot be edited: %w", p.name, err), f.Close())
	}
	file, err := fl.read(p, f, info)
	return file, errors.Join(err, f.Close())
}
