package footprint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// maxEntries is the number of entries up to which a folder is compared.
const maxEntries = 50_000

// folder is the state of all files of a folder at a time.
type folder struct {
	dir   string
	files map[string]string // state by absolute path
	seen  map[string]string // by path, the hash of the content that a person approved since
	err   error             // why it cannot be compared
}

// caches are folders with files that programs make for themselves.
var caches = strings.Fields("__pycache__ .pytest_cache .mypy_cache .ruff_cache")

// look returns the present state of a folder, without caches and git's objects.
func look(dir string) *folder {
	f := &folder{dir: dir, files: map[string]string{}, seen: map[string]string{}}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case err != nil:
			f.files[path] = "unreadable: " + err.Error()
			return nil //nolint:nilerr // a program cannot read it either
		case e.IsDir():
			if e.Name() == ".git" {
				f.git(path)
				return filepath.SkipDir
			}
			if slices.Contains(caches, e.Name()) || path != dir && isCache(path) {
				return filepath.SkipDir
			}
			return nil
		case len(f.files) >= maxEntries:
			return fmt.Errorf("%s has more than %d files, too many to compare", dir, maxEntries)
		}
		f.add(path)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.err = err
	}
	return f
}

// isCache reports whether a folder has the mark of one that programs may remake at any time.
func isCache(dir string) bool {
	data, err := regularfile.ReadFile(filepath.Join(dir, "CACHEDIR.TAG"), 4<<10)
	return err == nil && strings.HasPrefix(string(data), "Signature: 8a477f597d28d172789f06886806bc55")
}

// git adds those of git's own files that name programs.
func (f *folder) git(dir string) {
	f.add(filepath.Join(dir, "config"))
	entries, err := os.ReadDir(filepath.Join(dir, "hooks"))
	if err != nil {
		return // it has no hooks
	}
	for _, e := range entries {
		f.add(filepath.Join(dir, "hooks", e.Name()))
	}
}

func (f *folder) add(path string) {
	if state := stateOf(path); state != "" {
		f.files[path] = state
	}
}

// stateOf returns a text that changes with the file at path; "" if it is missing.
func stateOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), changeTime(info))
}

// approving notes that a person approves a change of the file at path from the content with the
// hash before, which is there, to that with the hash after. It counts if before is known.
func (f *folder) approving(path, before, after string) {
	was, approved := f.seen[path]
	if approved && was == before || !approved && f.files[path] == stateOf(path) {
		f.seen[path] = after
	}
}

// sources lists the endings of files that programs build or test, besides scripts.
var sources = strings.Fields(".c .cc .cl .clj .cpp .cs .cxx .dart .erl .ex .f90 .fs .go .gradle .groovy .h .hh .hpp .hs .java .jl .kt .m .ml .mm .mli .mod .nim .php .pyi .pyx .rake .rs .s .scala .svelte .swift .tsx .v .vb .vue .zig")

// counts reports whether a file belongs to a reach.
func counts(r Reach, path string) bool {
	end := strings.ToLower(filepath.Ext(path))
	return r > Sources || slices.Contains(sources, end) || slices.Contains(scripts, end)
}

// changes describes a change of the files in reach that no person approved, but for those in
// except; "" without one.
func (f *folder) changes(reach Reach, except map[string]bool) string {
	if f.err != nil {
		return f.err.Error()
	}
	now := look(f.dir)
	if now.err != nil {
		return now.err.Error()
	}
	var names []string
	for path, state := range now.files {
		if f.files[path] != state && !except[path] && counts(reach, path) {
			names = append(names, path)
		}
	}
	for path := range f.files {
		if now.files[path] == "" && !except[path] && counts(reach, path) {
			names = append(names, path)
		}
	}
	slices.Sort(names)
	for _, path := range names {
		after, approved := f.seen[path]
		if approved && hashAt(path) == after {
			continue
		}
		name := path
		if rel, err := filepath.Rel(f.dir, path); err == nil {
			name = rel
		}
		return name + " has changed"
	}
	return ""
}

// hashAt returns the hash of the file at path; "" if it is missing.
func hashAt(path string) string {
	data, err := regularfile.ReadFile(path, maxHashed)
	if err != nil {
		return ""
	}
	return Hash(data)
}
