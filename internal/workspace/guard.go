package workspace

import (
	"fmt"
	"path/filepath"
	"sync"
)

// Guard makes Read, Open and the files of FS fail with ErrGuarded where why returns a
// reason, as the predicate of a sentence about the file. name is as in Resolve, abs the
// file's absolute path behind all symlinks. Proposals and the journal are not guarded: a
// person gets their texts, and no model does.
func (r *Root) Guard(why func(name, abs string) string) { r.files.guard.Store(&why) }

// guarded returns the error of reading the file at p, which exists, if it is guarded.
func (fl *files) guarded(name, abs string) error {
	why := fl.guard.Load()
	if why == nil {
		return nil
	}
	if reason := (*why)(name, abs); reason != "" {
		return fmt.Errorf("%s %s: %w", name, reason, ErrGuarded)
	}
	return nil
}

// guardedPlace is guarded for a place that may be outside or missing, which open reports.
func (fl *files) guardedPlace(p place) error {
	if p.info == nil || p.folder == nil && fl.outside.By(p.abs) == "" {
		return nil
	}
	return fl.guarded(p.name, p.abs)
}

// Peek is Read without the guard, for a comparison whose text no model gets.
func (r *Root) Peek(path string) (File, error) {
	p, err := r.files.resolve(path)
	if err != nil {
		return File{}, err
	}
	return r.files.whole(p)
}

// straight remembers the folders whose paths lead through no symlinks.
type straight struct {
	mu   sync.Mutex
	dirs map[string]bool
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
