package pending

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/subpath"
)

// FS returns the folder at the absolute path dir as it is with the pending changes, and
// whether any of them is below it. disk is the folder on disk; nil if only pending files
// are there.
func (c *Changes) FS(disk fs.FS, dir string) (fs.FS, bool) {
	o := &overlay{disk: disk, files: map[string]*file{}, folders: map[string]bool{".": true}}
	for _, p := range c.All() {
		at, in := subpath.Of(dir, p.Path)
		if in {
			o.files[at] = nil
		}
		rel := at
		if p.Moves() {
			rel, in = subpath.Of(dir, p.To)
		}
		if p.Delete || !in {
			continue
		}
		data, err := p.Content()
		if err != nil {
			data = []byte(p.After) // impossible: Propose has encoded it
		}
		o.files[rel] = &file{name: path.Base(rel), data: data, mode: p.Mode.Perm()}
		for d := path.Dir(rel); d != "."; d = path.Dir(d) {
			o.folders[d] = true
		}
	}
	if len(o.files) == 0 {
		return disk, false
	}
	return o, true
}

// overlay is a folder with pending changes.
type overlay struct {
	disk    fs.FS            // may be nil
	files   map[string]*file // nil for a removed one
	folders map[string]bool  // those of the pending files
}

// Open implements fs.FS.
func (o *overlay) Open(name string) (fs.File, error) {
	f, ok := o.files[name]
	switch {
	case ok && f == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case ok:
		return &opened{file: f, Reader: bytes.NewReader(f.data)}, nil
	case o.disk == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return o.disk.Open(name)
}

// Stat implements fs.StatFS.
func (o *overlay) Stat(name string) (fs.FileInfo, error) {
	if f, ok := o.files[name]; ok && f != nil {
		return f, nil
	}
	if _, removed := o.files[name]; removed || o.disk == nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return fs.Stat(o.disk, name)
}

// ReadDir implements fs.ReadDirFS.
func (o *overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	var list []fs.DirEntry
	err := error(&fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist})
	if o.disk != nil {
		list, err = fs.ReadDir(o.disk, name)
	}
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && o.folders[name]) {
		return nil, err
	}
	have := map[string]bool{}
	list = slices.DeleteFunc(list, func(d fs.DirEntry) bool {
		have[d.Name()] = true
		_, pending := o.files[path.Join(name, d.Name())]
		return pending
	})
	for rel, f := range o.files {
		if f != nil && path.Dir(rel) == name {
			list = append(list, f)
		}
	}
	for rel := range o.folders {
		if rel != "." && path.Dir(rel) == name && !have[path.Base(rel)] {
			list = append(list, folder(path.Base(rel)))
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// file is a pending file: its own fs.FileInfo and fs.DirEntry.
type file struct {
	name string
	data []byte
	mode fs.FileMode
}

func (f *file) Name() string               { return f.name }
func (f *file) Size() int64                { return int64(len(f.data)) }
func (f *file) Mode() fs.FileMode          { return f.mode }
func (f *file) Type() fs.FileMode          { return 0 }
func (f *file) ModTime() time.Time         { return time.Now() }
func (f *file) IsDir() bool                { return false }
func (f *file) Sys() any                   { return nil }
func (f *file) Info() (fs.FileInfo, error) { return f, nil }

// folder is one that only pending files are in.
type folder string

func (f folder) Name() string               { return string(f) }
func (f folder) Size() int64                { return 0 }
func (f folder) Mode() fs.FileMode          { return fs.ModeDir | 0o755 }
func (f folder) Type() fs.FileMode          { return fs.ModeDir }
func (f folder) ModTime() time.Time         { return time.Now() }
func (f folder) IsDir() bool                { return true }
func (f folder) Sys() any                   { return nil }
func (f folder) Info() (fs.FileInfo, error) { return f, nil }

// opened is an open pending file.
type opened struct {
	*file
	io.Reader
}

func (o *opened) Stat() (fs.FileInfo, error) { return o.file, nil }
func (o *opened) Close() error               { return nil }
