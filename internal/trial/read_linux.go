//go:build amd64 || arm64

package trial

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/gitignore"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// reader reads the changes by a command in a folder.
type reader struct {
	*folder
	root  *workspace.Root
	out   *Outcome
	begin time.Time // of the command
	seen  map[string]bool
	size  int
}

// read adds the changes by the command to out.
func (f *folder) read(root *workspace.Root, out *Outcome, begin time.Time) error {
	r := &reader{folder: f, root: root, out: out, begin: begin, seen: map[string]bool{}}
	if err := r.dir(".", f.top(), false); err != nil {
		return err
	}
	for rel, p := range f.placed {
		if !r.seen[rel] && p.data != nil { // made by a pending change, and removed
			r.change(rel, nil, 0, nil)
		}
	}
	return nil
}

// dir reads a folder of the upper one. bare means that it hides all below.
func (r *reader) dir(rel string, above *gitignore.Rules, bare bool) error {
	entries, err := os.ReadDir(r.upper(rel))
	if err != nil {
		return err
	}
	ig := r.rules(rel, above, r.upper, r.lower)
	if bare = bare || isOpaque(r.upper(rel)); bare {
		if err := r.hiddenBelow(rel, entries, ig); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := r.entry(filepath.Join(rel, e.Name()), e, ig, bare); err != nil {
			return err
		}
	}
	return nil
}

// hiddenBelow notes the files that an opaque folder hides for ever.
func (r *reader) hiddenBelow(rel string, entries []fs.DirEntry, ig *gitignore.Rules) error {
	below, err := os.ReadDir(r.lower(rel))
	if err != nil {
		return nil //nolint:nilerr // nothing is there
	}
	for _, e := range below {
		if slices.ContainsFunc(entries, func(up fs.DirEntry) bool { return up.Name() == e.Name() }) {
			continue
		}
		if err := r.gone(filepath.Join(rel, e.Name()), ig); err != nil {
			return err
		}
	}
	return nil
}

// entry reads an entry of the upper folder.
func (r *reader) entry(rel string, e fs.DirEntry, ig *gitignore.Rules, bare bool) error {
	r.seen[rel] = true
	info, err := e.Info()
	if err != nil {
		return err
	}
	below, err := os.Lstat(r.lower(rel))
	if err != nil || bare && e.Name() == ".git" {
		below = nil
	}
	removed := info.Mode()&fs.ModeCharDevice != 0
	isDir := info.IsDir() || removed && below != nil && below.IsDir()
	switch {
	case e.Name() == ".git":
		return r.repository(rel, below)
	case r.hidden[rel]:
		if !removed {
			r.out.withhold("writes " + rel + ", which it was not shown")
		}
		return nil
	case ig.Match(filepath.ToSlash(rel), isDir), removed && below == nil:
		return nil
	case removed:
		return r.gone(rel, ig)
	}
	return r.made(rel, info, below, ig, bare)
}

// made reads a file, folder or link of the upper folder.
func (r *reader) made(rel string, info, below fs.FileInfo, ig *gitignore.Rules, bare bool) error {
	switch {
	case below != nil && info.IsDir() && !below.IsDir():
		r.out.withhold("replaces the file " + rel + " by a folder")
	case below != nil && !info.IsDir() && below.IsDir():
		r.out.withhold("replaces the folder " + rel + " by a file")
	case info.IsDir():
		r.madeFolder(rel, info, below)
		return r.dir(rel, ig, bare || below == nil)
	case info.Mode().IsRegular():
		return r.file(rel, info, below)
	case info.Mode()&fs.ModeSymlink != 0:
		r.link(rel, below)
	default:
		r.out.withhold("makes a pipe or a socket, " + rel)
	}
	return nil
}

// madeFolder notes a folder that is new and empty, or has another mode than before. The others are made with their
// files.
func (r *reader) madeFolder(rel string, info, below fs.FileInfo) {
	to := workspace.StateOf(info.Mode(), nil)
	switch {
	case below != nil:
		if workspace.StateOf(below.Mode(), nil).Mode != to.Mode {
			r.restate(rel, to, nil)
		}
	case slices.ContainsFunc(slices.Collect(maps.Keys(r.placed)), func(file string) bool { return subpath.In(rel, file) }): // made by a pending change
	case isEmpty(r.upper(rel)):
		r.restate(rel, to, nil)
	case to.Mode != fs.ModeDir|0o777&^umask(): // a commit makes the folders of new files
		r.out.withhold("makes the folder " + rel + " with another mode than usual")
	}
}

// isEmpty reports whether a folder has no entries.
func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// umask returns the mask for the modes of new files, also of commands.
var umask = sync.OnceValue(func() fs.FileMode {
	status, _ := os.ReadFile("/proc/self/status") // without it, the usual one
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "Umask:"); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(value), 8, 32); err == nil {
				return fs.FileMode(n)
			}
		}
	}
	return 0o022
})

// file compares a file with the one before.
func (r *reader) file(rel string, info, below fs.FileInfo) error {
	if info.Size() > workspace.MaxFileSize {
		r.out.withhold("writes a file that is too large to show, " + rel)
		return nil
	}
	now, err := os.ReadFile(r.upper(rel))
	if err != nil {
		r.out.withhold("writes a file that cannot be read, " + rel)
		return nil //nolint:nilerr // the outcome tells
	}
	now = append([]byte{}, now...) // of an empty file, too
	if p, pending := r.placed[rel]; pending {
		r.pending(rel, info, below, p, now)
		return nil
	}
	if below == nil || !below.Mode().IsRegular() {
		r.put(rel, info, now, below != nil)
		return nil
	}
	before, err := os.ReadFile(r.lower(rel))
	if err != nil {
		return err
	}
	if owner(info) != owner(below) {
		r.out.withhold("changes the owner of " + rel)
	}
	if mode := below.Mode() &^ fs.ModeType; !bytes.Equal(before, now) || mode != info.Mode() {
		r.put(rel, info, now, mode != info.Mode())
	}
	return nil
}

// pending is file for one with a change that waits for a review.
func (r *reader) pending(rel string, info, below fs.FileInfo, p placed, now []byte) {
	exists := p.data != nil
	switch {
	case exists && bytes.Equal(p.data, now) && p.mode == info.Mode():
	case p.change.Moves() && p.mode != info.Mode():
		r.out.withhold("changes the mode of " + rel)
	default:
		r.put(rel, info, now, exists && below != nil && p.mode != info.Mode())
	}
}

// put proposes a file. whole means that more than its text changes, such as its mode.
func (r *reader) put(rel string, info fs.FileInfo, now []byte, whole bool) {
	if whole || info.Mode()&^fs.ModePerm != 0 {
		r.restate(rel, workspace.StateOf(info.Mode(), now), now)
	} else {
		r.change(rel, now, info.Mode(), nil)
	}
}

// owner returns the user and the group of a file.
func owner(info fs.FileInfo) [2]uint32 {
	st, _ := info.Sys().(*syscall.Stat_t)
	return [2]uint32{st.Uid, st.Gid}
}

// link compares a link with the one before.
func (r *reader) link(rel string, below fs.FileInfo) {
	now, err := os.Readlink(r.upper(rel))
	if err != nil || r.placed[rel].data != nil {
		r.out.withhold("makes the link " + rel)
		return
	}
	if below != nil && below.Mode()&fs.ModeSymlink != 0 {
		if before, err := os.Readlink(r.lower(rel)); err == nil && before == now {
			return
		}
	}
	r.restate(rel, workspace.StateOf(fs.ModeSymlink, []byte(now)), []byte(now))
}

// gone notes that all at rel in the workspace is removed.
func (r *reader) gone(rel string, ig *gitignore.Rules) error {
	info, err := os.Lstat(r.lower(rel))
	if err != nil {
		return nil //nolint:nilerr // somebody else has removed it
	}
	return r.goneBelow(rel, info, ig, nil, info.IsDir() && r.onlyFiles(rel))
}

// onlyFiles reports whether all folders in a folder have files, and nothing else is there. With its files, such a
// folder goes by itself.
func (r *reader) onlyFiles(rel string) bool {
	entries, err := os.ReadDir(r.lower(rel))
	return err == nil && len(entries) > 0 && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() && !(e.IsDir() && r.onlyFiles(filepath.Join(rel, e.Name())))
	})
}

// goneBelow notes that the file, or all of the folder, at rel is removed. dirs are the folders above it that are removed as
// well; implied means that folders go with their files.
func (r *reader) goneBelow(rel string, info fs.FileInfo, ig *gitignore.Rules, dirs []string, implied bool) error {
	r.seen[rel] = true
	p, pending := r.placed[rel]
	switch {
	case r.hidden[rel]:
		r.out.withhold("removes " + rel + ", which it was not shown")
	case filepath.Base(rel) == ".git":
		r.out.withhold("removes the repository " + filepath.Dir(rel))
	case info.IsDir():
		if implied {
			dirs = append(slices.Clip(dirs), r.lower(rel))
		}
		if err := r.folderGone(rel, ig, dirs, implied); err != nil || implied {
			return err
		}
		r.restate(rel, workspace.State{}, nil)
	case pending && p.data == nil:
	case info.Mode().IsRegular():
		r.change(rel, nil, 0, dirs)
	case info.Mode()&fs.ModeSymlink != 0:
		r.restate(rel, workspace.State{}, nil)
	default:
		r.out.withhold("removes the pipe or socket " + rel)
	}
	return nil
}

// folderGone notes that all in a folder is removed.
func (r *reader) folderGone(rel string, above *gitignore.Rules, dirs []string, implied bool) error {
	entries, err := os.ReadDir(r.lower(rel))
	if err != nil {
		return err
	}
	ig := r.rules(rel, above, r.lower)
	for _, e := range entries {
		at := filepath.Join(rel, e.Name())
		info, err := e.Info()
		if err != nil {
			return err
		}
		if ig.Match(filepath.ToSlash(at), e.IsDir()) {
			r.out.withhold("removes files that git ignores, " + at)
			continue
		}
		if err := r.goneBelow(at, info, ig, dirs, implied); err != nil {
			return err
		}
	}
	return nil
}

// fits notes the change of a path by content, and reports whether it can be proposed.
func (r *reader) fits(rel string, content int) bool {
	r.seen[rel] = true
	if r.size += content; r.size > maxChanged || len(r.out.Changes) >= maxFiles {
		r.out.withhold("changes too much to show: more than 1000 files or 64 MB")
		return false
	}
	var st unix.Stat_t
	if unix.Lstat(r.lower(rel), &st) == nil && !time.Unix(st.Ctim.Unix()).Before(r.begin) {
		r.out.withhold("changes " + rel + ", which somebody else changed meanwhile")
		return false
	}
	return true
}

// add adds the change of a path.
func (r *reader) add(c workspace.Change, err error) {
	if err != nil {
		r.out.withhold("changes a file that cannot be changed: " + strings.TrimPrefix(err.Error(), "open "))
		return
	}
	r.out.Changes = append(r.out.Changes, c)
}

// restate adds the change of a path to another state.
func (r *reader) restate(rel string, to workspace.State, content []byte) {
	if r.fits(rel, len(content)) {
		r.add(r.root.Restate(r.lower(rel), to, content))
	}
}

// change adds the change of a file: its new content, nil for none.
func (r *reader) change(rel string, data []byte, mode fs.FileMode, dirs []string) {
	if !r.fits(rel, len(data)) {
		return
	}
	var over *workspace.Change
	if p, ok := r.placed[rel]; ok {
		over = &p.change
	}
	c, err := r.root.Becomes(r.lower(rel), data, mode, over)
	if c.Dirs = dirs; over != nil && !over.Exists { // a new file, whose mode is still open
		c.Mode = mode.Perm()
	}
	r.add(c, err)
}

// paired returns the changes in the order in which they can be made, with a file that is removed and one that is made with its content as one that moves.
func paired(all []workspace.Change) []workspace.Change {
	out := all[:0:0]
	used := map[int]bool{}
	for i, gone := range all {
		if !gone.Delete || gone.States != nil || contentBefore(gone) == "" {
			continue
		}
		for j, made := range all {
			if used[j] || !isMoved(gone, made) {
				continue
			}
			used[i], used[j] = true, true
			moved := gone
			moved.Delete, moved.After, moved.RawAfter = false, gone.Text, gone.Raw
			moved.To, moved.ToName = made.Path, made.Name
			out = append(out, moved)
			break
		}
	}
	for i, c := range all {
		if !used[i] {
			out = append(out, c)
		}
	}
	ordered := make([]workspace.Change, len(out))
	for i, at := range workspace.Order(out) {
		ordered[i] = out[at]
	}
	return ordered
}

// isMoved reports whether the file that is made is the one that is gone.
func isMoved(gone, made workspace.Change) bool {
	content := made.After
	if made.RawAfter != nil {
		content = string(made.RawAfter)
	}
	isNew := !made.Exists && !made.Delete && made.States == nil
	return isNew && content == contentBefore(gone) && made.Format.BOM == gone.Format.BOM && made.Mode.Perm() == gone.Mode.Perm()
}

func contentBefore(c workspace.Change) string {
	if c.Raw != nil {
		return string(c.Raw)
	}
	return c.Text
}
