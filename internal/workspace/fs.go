package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// FS returns the folder at path, read-only, for walking and searching, and its name as in
// Resolve ("." for Dir). It reaches nothing outside the folder and refuses symlinks with
// an absolute target. It is valid until Close.
func (r *Root) FS(path string) (fs.FS, string, error) {
	p, err := r.files.resolve(path)
	if err != nil {
		return nil, "", err
	}
	if p.info == nil {
		return nil, "", &fs.PathError{Op: "open", Path: p.name, Err: fs.ErrNotExist}
	}
	if !p.info.IsDir() {
		return nil, "", fmt.Errorf("%s is not a folder", p.name)
	}
	if p.folder != nil {
		fsys, err := fs.Sub(r.newFS(*p.folder), filepath.ToSlash(p.rel))
		return fsys, p.name, err
	}
	if r.files.outside.By(p.abs) == "" {
		return nil, "", fmt.Errorf("%s is %w", p.name, ErrOutside)
	}
	root, err := r.files.outside.open(p.abs)
	if err != nil {
		return nil, "", err
	}
	return r.newFS(folder{p.abs, root}), p.name, nil
}

// folderFS is the file system of a folder.
type folderFS struct {
	rootFS
	folder   folder
	files    *files
	straight *straight
}

// straight remembers the folders whose paths lead through no symlinks.
type straight struct {
	mu   sync.Mutex
	dirs map[string]bool
}

// rootFS is the interface of os.Root.FS.
type rootFS interface {
	fs.StatFS
	fs.ReadLinkFS
}

func (r *Root) newFS(f folder) fs.FS {
	if all, ok := f.root.FS().(rootFS); ok {
		return folderFS{all, f, &r.files, &straight{dirs: map[string]bool{}}}
	}
	return f.root.FS()
}

// Open opens folders and regular files only. It never blocks.
func (f folderFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := f.folder.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.IsDir() {
		if err = regular(name, info); err == nil {
			err = f.guarded(name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ReadDir lists a folder. That of os.Root calls stat for each entry, which makes a walk
// take three times as long.
func (f folderFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	rel := filepath.FromSlash(name)
	dir, err := f.folder.root.Open(rel)
	if err != nil {
		return nil, err
	}
	list, err := readDir(dir, filepath.Join(f.folder.path, rel))
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, errors.Join(err, dir.Close())
}

// guarded returns the error of opening the file called name if it is guarded. A symlink
// counts as the file that it leads to.
func (f folderFS) guarded(name string) error {
	if f.files.guard.Load() == nil {
		return nil
	}
	abs := filepath.Join(f.folder.path, filepath.FromSlash(name))
	if !f.isStraight(abs) {
		p, err := f.files.resolve(abs)
		if err != nil {
			return err
		}
		return f.files.guarded(p.name, p.abs)
	}
	return f.files.guarded(f.files.named(abs), abs)
}

// isStraight reports whether no part of abs below the folder is a symlink.
func (f folderFS) isStraight(abs string) bool {
	if abs == f.folder.path {
		return true
	}
	rel, ok := below(f.folder.path, abs)
	info, err := f.folder.root.Lstat(rel)
	if !ok || err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return false
	}
	dir := filepath.Dir(abs)
	f.straight.mu.Lock()
	known := f.straight.dirs[dir]
	f.straight.mu.Unlock()
	if known {
		return true
	}
	if !f.isStraight(dir) {
		return false
	}
	f.straight.mu.Lock()
	f.straight.dirs[dir] = true
	f.straight.mu.Unlock()
	return true
}
