//go:build amd64 || arm64

package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/gitignore"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/room"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// folder is a folder of the workspace with the overlay over it. Between runs, the upper folder has only
// files that git ignores.
type folder struct {
	root    string
	over    room.Overlay
	secrets secrets
	hidden  map[string]bool   // in this run, relative to root
	placed  map[string]placed // likewise: pending changes
}

// placed is a file as it is with its pending change.
type placed struct {
	change workspace.Change
	data   []byte // nil for a removed file
	mode   fs.FileMode
}

func (f *folder) upper(rel string) string { return filepath.Join(f.over.Upper, rel) }
func (f *folder) lower(rel string) string { return filepath.Join(f.root, rel) }

// mark is a file beside the upper folder that is there while a command may write it, and is as old as
// the last clearing.
func (f *folder) mark() string { return filepath.Join(filepath.Dir(f.over.Upper), "in-use") }

// fill makes the upper folder ready for a command.
func (f *folder) fill(ctx context.Context, r *room.Room, pending []workspace.Change) error {
	if err := f.begin(); err != nil {
		return err
	}
	f.hidden, f.placed = map[string]bool{}, map[string]placed{}
	found, err := f.secrets.find(ctx, f.root)
	if err != nil {
		return err
	}
	for _, rel := range found.hidden {
		f.hidden[rel] = true
		if err := f.whiteout(rel); err != nil {
			return err
		}
	}
	for rel, content := range found.masked {
		r.Mask(f.lower(rel), content)
	}
	f.showRepository(r)
	for _, c := range pending {
		if err := f.place(c); err != nil {
			return err
		}
	}
	return nil
}

// begin drops everything if a run was not finished, else the ignored files that are older than
// those of the workspace.
func (f *folder) begin() error {
	info, err := os.Stat(f.mark())
	switch {
	case err == nil && info.Size() == 0: // a run was not finished
		if err := removeAll(f.over.Upper); err != nil {
			return err
		}
		if err := os.Mkdir(f.over.Upper, 0o700); err != nil {
			return err
		}
		if err := likeFolder(f.over.Upper, f.root); err != nil {
			return err
		}
	case err == nil:
		if err := f.dropStale(info.ModTime()); err != nil {
			return err
		}
	}
	return os.WriteFile(f.mark(), nil, 0o600)
}

// place puts a pending change into the upper folder.
func (f *folder) place(c workspace.Change) error {
	if c.Moves() {
		made, gone := c.Halves()
		made.After, made.RawAfter = c.After, c.RawAfter
		return errors.Join(f.placeOne(gone, c), f.placeOne(made, c))
	}
	return f.placeOne(c, c)
}

func (f *folder) placeOne(c, whole workspace.Change) error {
	rel, in := subpath.Of(f.root, c.Path)
	if !in || f.hidden[rel] {
		return nil
	}
	if c.Delete {
		f.placed[rel] = placed{change: whole}
		return f.whiteout(rel)
	}
	data, err := c.Content()
	if err != nil {
		return err
	}
	if data == nil {
		data = []byte{}
	}
	p := placed{change: whole, data: data, mode: c.Mode.Perm()}
	f.placed[rel] = p
	if err := f.vacate(rel); err != nil {
		return err
	}
	if err := os.WriteFile(f.upper(rel), data, 0o600); err != nil {
		return err
	}
	return os.Chmod(f.upper(rel), p.mode)
}

// whiteout makes the overlay show nothing at rel.
func (f *folder) whiteout(rel string) error {
	if err := f.vacate(rel); err != nil {
		return err
	}
	return unix.Mknod(f.upper(rel), unix.S_IFCHR, 0)
}

// vacate removes the file or folder at rel of the upper folder, and makes the folders above it.
func (f *folder) vacate(rel string) error {
	if dir := filepath.Dir(rel); dir != "." {
		if info, err := os.Lstat(f.upper(dir)); err != nil || !info.IsDir() {
			if err := f.vacate(dir); err != nil {
				return err
			}
			if err := os.Mkdir(f.upper(dir), 0o700); err != nil {
				return err
			}
			if err := likeFolder(f.upper(dir), f.lower(dir)); err != nil {
				return err
			}
		}
	}
	return removeAll(f.upper(rel))
}

// likeFolder gives a folder the mode, the time and the owner of another folder, if that exists.
func likeFolder(dir, other string) error {
	info, err := os.Stat(other)
	if err != nil || !info.IsDir() {
		return os.Chmod(dir, 0o755) //nolint:gosec // a new folder, as every program makes it
	}
	var st unix.Stat_t
	if unix.Stat(other, &st) == nil && os.Geteuid() == 0 {
		if err := os.Lchown(dir, int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	return errors.Join(os.Chmod(dir, info.Mode()), os.Chtimes(dir, time.Time{}, info.ModTime()))
}

// removeAll is os.RemoveAll also of folders that their owner may not read.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(at, 0o700) //nolint:gosec // RemoveAll reports what it still cannot remove
		}
		return nil // likewise
	})
	return os.RemoveAll(path)
}

// rules returns the rules for the entries of the folder rel, as the files of the folders in from have them: the
// first one that has a .gitignore file.
func (f *folder) rules(rel string, above *gitignore.Rules, from ...func(string) string) *gitignore.Rules {
	for _, at := range from {
		name := filepath.Join(at(rel), ".gitignore")
		if _, err := os.Lstat(name); err != nil {
			continue
		}
		data, err := regularfile.ReadFile(name, gitignore.MaxFile)
		if err != nil {
			return above // a whiteout
		}
		_, err = os.Lstat(filepath.Join(f.lower(rel), ".git"))
		if rel == "." {
			rel = ""
		}
		return above.Under(filepath.ToSlash(rel), data, rel != "" && err == nil)
	}
	return above
}

// top returns the rules for the entries of the folder itself.
func (f *folder) top() *gitignore.Rules { return gitignore.Above(f.root, f.root) }

// kept calls visit for the ignored files and folders in the upper folder, by the rules of the workspace, but not for those in
// an ignored folder, and remove for the others. A folder with ignored ones is not removed.
func (f *folder) kept(rel string, above *gitignore.Rules, visit func(rel string) error, remove func(rel string) error) (some bool, err error) {
	entries, err := os.ReadDir(f.upper(rel))
	if err != nil {
		return false, err
	}
	ig := f.rules(rel, above, f.lower)
	for _, e := range entries {
		at := filepath.Join(rel, e.Name())
		isDir := e.IsDir()
		if info, err := os.Lstat(f.lower(at)); err == nil && !isDir {
			isDir = info.IsDir() // a whiteout
		}
		inside := false
		switch {
		case e.Name() == ".git":
		case ig.Match(filepath.ToSlash(at), isDir):
			inside, err = true, visit(at)
		case e.IsDir():
			inside, err = f.kept(at, ig, visit, remove)
		}
		if err == nil && !inside {
			err = remove(at)
		}
		if err != nil {
			return some, err
		}
		some = some || inside
	}
	return some, nil
}

// opaque is the attribute of a folder that hides all that is in the one below.
const opaque = "user.overlay.opaque"

// isOpaque reports whether a folder of an upper one hides the files below.
func isOpaque(dir string) bool {
	var value [1]byte
	n, err := unix.Lgetxattr(dir, opaque, value[:])
	return err == nil && n == 1 && value[0] == 'y'
}

// clear leaves in the upper folder only what git ignores.
func (f *folder) clear() error {
	if f.over.Upper == "" {
		return nil
	}
	for rel := range f.hidden {
		if info, err := os.Lstat(f.upper(rel)); err == nil && info.Mode()&fs.ModeCharDevice != 0 {
			if err := os.Remove(f.upper(rel)); err != nil {
				return err
			}
		}
	}
	open := []string{"."}
	_, err := f.kept(".", f.top(), func(rel string) error {
		for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
			if !slices.Contains(open, dir) {
				open = append(open, dir)
			}
		}
		return nil
	}, func(rel string) error { return removeAll(f.upper(rel)) })
	if err != nil {
		return err
	}
	for _, dir := range open { // else the files of the workspace in it would stay hidden
		if err := unix.Lremovexattr(f.upper(dir), opaque); err != nil && !errors.Is(err, unix.ENODATA) {
			return err
		}
	}
	return os.WriteFile(f.mark(), []byte("cleared\n"), 0o600)
}

// dropStale removes the ignored files and folders for which the workspace has newer ones.
func (f *folder) dropStale(last time.Time) error {
	_, err := f.kept(".", f.top(), func(rel string) error {
		stale, err := f.stale(rel, last)
		if err != nil || !stale {
			return err
		}
		return removeAll(f.upper(rel))
	}, func(string) error { return nil })
	return err
}

// stale reports whether the workspace has something as new as last, or newer, at rel, or at anything in it that the upper
// folder has as well.
func (f *folder) stale(rel string, last time.Time) (bool, error) {
	var st unix.Stat_t
	if unix.Lstat(f.lower(rel), &st) != nil {
		return false, nil //nolint:nilerr // only trials have made it
	}
	if !time.Unix(st.Ctim.Unix()).Before(last) {
		return true, nil
	}
	entries, err := os.ReadDir(f.upper(rel))
	if errors.Is(err, unix.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if stale, err := f.stale(filepath.Join(rel, e.Name()), last); err != nil || stale {
			return stale, err
		}
	}
	return false, nil
}
