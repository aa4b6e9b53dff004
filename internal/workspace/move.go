package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Removable returns the file at path as the base of a change that removes or moves it, even
// if it is not text. It refuses folders and links, and a file that may not be changed or has
// unsaved changes in the editor.
func (r *Root) Removable(path string) (File, error) {
	p, err := r.named(path)
	switch {
	case err != nil:
		return File{}, err
	case p.info == nil:
		return File{}, &fs.PathError{Op: "open", Path: p.name, Err: fs.ErrNotExist}
	}
	file, err := r.files.base(p)
	if errors.Is(err, ErrNotText) {
		return r.rawBase(p)
	}
	if err != nil {
		return File{}, err
	}
	_, unsaved, err := r.unsaved(file.Path, file.Text, file.Format)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", file.Name, err)
	}
	if unsaved {
		return File{}, fmt.Errorf("%s has unsaved changes in the user's editor, which has to save or discard them first", file.Name)
	}
	return file, nil
}

// rawBase returns a file that is not text as the base of a change.
func (r *Root) rawBase(p place) (File, error) {
	file, data, err := r.Raw(p.abs)
	if err != nil {
		return File{}, err
	}
	file.Raw, file.Text, file.Format = data, Describe(data), Format{Encoding: Binary}
	return file, nil
}

// Vacant returns the resolved path and the name of a place for a file. It fails if anything
// is there, even a link.
func (r *Root) Vacant(path string) (abs, name string, err error) {
	p, err := r.named(path)
	switch {
	case err != nil:
		return "", "", err
	case p.info != nil && p.info.IsDir():
		return "", "", fmt.Errorf("%s is a folder: name the file in it: %w", p.name, fs.ErrExist)
	case p.info != nil:
		return "", "", fmt.Errorf("%s exists, and is not overwritten: %w", p.name, fs.ErrExist)
	case strings.HasSuffix(path, "/"):
		return "", "", fmt.Errorf("%s is not a folder: name the file", p.name)
	}
	if err := writable(p.abs, nil); err != nil {
		return "", "", fmt.Errorf("%s cannot be created: %w", p.name, err)
	}
	return p.abs, p.name, nil
}

// Place is Vacant for a file at a resolved path that moves. The place may be the file itself in another
// spelling: then its name gets that.
func (r *Root) Place(from, to string) (abs, name string, err error) {
	if p, err := r.named(to); err == nil && p.info != nil && p.abs == from {
		all := parts(to)
		if at := filepath.Join(filepath.Dir(from), all[len(all)-1]); twins(at, from) {
			return at, r.files.named(at), nil
		}
	}
	return r.Vacant(to)
}

// named resolves a path in the workspace whose last part is not a link.
func (r *Root) named(path string) (place, error) {
	p, err := r.files.resolve(path)
	switch {
	case err != nil:
		return place{}, err
	case p.folder == nil:
		return place{}, fmt.Errorf("%s cannot be written: it is %w", p.name, ErrOutside)
	}
	at := path
	if !filepath.IsAbs(at) {
		at = r.Dir() + string(filepath.Separator) + path
	}
	info, err := os.Lstat(strings.TrimRight(at, string(filepath.Separator)))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return place{}, regular(path, info)
	}
	return p, nil
}
