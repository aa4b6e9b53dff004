//go:build amd64 || arm64

package trial

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/hexsum"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/room"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// repository reads a .git entry of the upper folder.
func (r *reader) repository(rel string, below fs.FileInfo) error {
	info, err := os.Lstat(r.upper(rel))
	if err != nil {
		return err
	}
	if isFolder := info.IsDir() && below != nil && below.IsDir(); !isFolder || isOpaque(r.upper(rel)) {
		r.out.withhold(ChangesRepository)
		return nil
	}
	added := false
	err = filepath.WalkDir(r.upper(rel), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at, err := filepath.Rel(r.over.Upper, path)
		if err != nil {
			return err
		}
		return r.inRepository(rel, at, e, &added)
	})
	if added && r.out.Staged == "" { // objects that nothing names
		r.out.withhold(ChangesRepository)
	}
	return err
}

// inRepository judges a change at a path of the repository. added is set by a new object.
func (r *reader) inRepository(rel, at string, e fs.DirEntry, added *bool) error {
	switch {
	case r.hidden[at]:
	case e.IsDir() && r.isEmpty(at):
		return fs.SkipDir // such as a folder for objects
	case e.IsDir() && !isOpaque(r.upper(at)):
	case at == filepath.Join(rel, "index"):
		r.index(at)
	case r.isObject(filepath.Join(rel, "objects"), at):
		*added = true
	case subpath.In(filepath.Join(rel, "lfs/tmp"), at) && isNew(r.lower(at)): // git-lfs leaves files there, and reads none
	default:
		r.out.withhold(ChangesRepository)
		return fs.SkipAll
	}
	return nil
}

// isEmpty reports whether a folder is new, and nothing but folders in it.
func (r *reader) isEmpty(at string) bool { return isNew(r.lower(at)) && !hasFile(r.upper(at)) }

// isObject reports whether the file at a path is a new object.
func (r *reader) isObject(objects, at string) bool {
	return subpath.In(objects, at) && isNew(r.lower(at)) && !subpath.In(filepath.Join(objects, "info"), at)
}

// isNew reports whether nothing is at a path of the workspace.
func isNew(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// hasFile reports whether anything but folders is in a folder.
func hasFile(dir string) (found bool) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// index compares an index with the one before.
func (r *reader) index(rel string) {
	before, err := os.ReadFile(r.lower(rel))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.out.withhold(ChangesRepository)
	}
	now, err := os.ReadFile(r.upper(rel))
	all := entries(now)
	switch {
	case err != nil || all == nil:
		r.out.withhold(ChangesRepository)
	case !bytes.Equal(entries(before), all):
		r.out.Staged = hexsum.Of(r.out.Staged + rel + string(all))
	}
}

// entries returns the entries of an index file of version 2 or 3 without the times, devices, owners and sizes; nil for
// another version.
func entries(index []byte) []byte {
	const head, times, fixed = 12, 40, 62
	if len(index) < head || string(index[:4]) != "DIRC" || binary.BigEndian.Uint32(index[4:])&^1 != 2 {
		return nil
	}
	const mode, size = 24, 4
	all := append([]byte{}, index[8:head]...) // their number
	rest := index[head:]
	for range binary.BigEndian.Uint32(index[8:]) {
		end := -1
		if len(rest) > fixed {
			skip := 0
			if rest[60]&0x40 != 0 { // extended
				skip = 2
			}
			if n := bytes.IndexByte(rest[fixed+skip:], 0); n >= 0 {
				end = fixed + skip + n
			}
		}
		if end < 0 {
			return nil
		}
		all = append(append(all, rest[mode:mode+size]...), rest[times:end+1]...)
		padded := (end + 8) / 8 * 8
		if padded > len(rest) {
			return nil
		}
		rest = rest[padded:]
	}
	return all
}

// showRepository shows the repository of a folder that is a worktree or a submodule, without
// credentials.
func (f *folder) showRepository(r *room.Room) {
	dir := gitDir(f.lower(".git"))
	if dir == "" {
		return
	}
	shown := []string{dir}
	if data, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		common := strings.TrimSpace(string(data))
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		shown = append(shown, filepath.Clean(common))
	}
	for _, dir := range shown {
		if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
			continue // no repository, whatever the file names
		}
		r.Show(dir)
		for _, name := range []string{"config", "config.worktree"} {
			path := filepath.Join(dir, name)
			if permission.Credentials(path) == "" {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				data = nil // hidden altogether
			}
			r.Mask(path, permission.WithoutGitCredentials(string(data)))
		}
	}
}
