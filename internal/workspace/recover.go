package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// recovery brings the files in line with the journal.
func recovery() journal.Recover { return journal.Recover{Entry: recoverEntry, Group: recoverGroup} }

// recoverEntry reports whether the change of an entry whose process died was made, and
// removes what the process left: its temp file, whose name nobody else can have used, and
// folders made for a file that is not there. A leftover that cannot be removed, as in a
// folder that became read-only, does not stop the start.
func recoverEntry(e *journal.Entry) (done bool, err error) {
	done = onDisk(e)
	if dir, err := os.OpenRoot(filepath.Dir(e.Path)); err == nil {
		removeTemp(dir, e.Temp)
		if err := dir.Close(); err != nil {
			return false, err
		}
	}
	if done == (e.After != nil) || len(e.Dirs) == 0 {
		return done, nil // in use by their file
	}
	parent := filepath.Dir(e.Dirs[0])
	if root, err := os.OpenRoot(parent); err == nil {
		f := folder{parent, root}
		f.removeEmpty(e.Dirs)
		return done, root.Close()
	}
	return done, nil
}

func removeTemp(dir *os.Root, name string) {
	if !strings.HasPrefix(name, tempPrefix) || filepath.Base(name) != name {
		return
	}
	if info, err := dir.Lstat(name); err == nil && info.Mode()&(fs.ModeType&^fs.ModeSymlink) == 0 {
		_ = dir.Remove(name) // see recoverEntry
	}
}

// recoverGroup takes back those of the files written together that a process had replaced
// when it died before the others. Nothing happens if it had replaced none, or all.
func recoverGroup(entries []*journal.Entry, content func(*journal.Entry) ([]byte, error)) (out journal.TakenBack) {
	var made []*journal.Entry
	waits := false
	for _, e := range entries {
		switch {
		case onDisk(e):
			made = append(made, e)
		case waiting(e):
			waits = true
		default: // somebody else has changed it since
			out.Left = append(out.Left, e.Name)
		}
	}
	if len(made) == 0 || !waits {
		return journal.TakenBack{}
	}
	for _, e := range slices.Backward(made) { // a name can be free only once its twin is gone
		var before []byte
		var err error
		if e.Before != nil {
			before, err = content(e)
		}
		if err == nil {
			err = takeBack(e, before)
		}
		if err != nil {
			out.Left = append(out.Left, e.Name)
			continue
		}
		out.Names = append(out.Names, e.Name)
	}
	slices.Reverse(out.Names)
	slices.Reverse(out.Left)
	out.Of = len(entries)
	return out
}

// statesOf returns the states before and after e, as far as e has them.
func statesOf(e *journal.Entry) (before, now State) {
	if before.Hash = e.Before; before.Exists() {
		before.Mode = e.Mode & stateMode
	}
	now, _ = after(e)
	return before, now
}

// waiting reports whether the path of e was not changed yet: its temp file is there, or, if it has
// none, the old state.
func waiting(e *journal.Entry) bool {
	t := transition{}
	if t.from, t.to = statesOf(e); !t.temporary() {
		if e.ModeAfter == nil { // of an edit, which keeps the mode
			sum, err := hashOf(e.Path)
			return err == nil && same(sum, e.Before)
		}
		now, err := stateAt(e.Path)
		return err == nil && now.Equal(t.from)
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(e.Path), e.Temp))
	return err == nil
}

// takeBack gives the path of e the state before e again, if it is still in the one after e.
func takeBack(e *journal.Entry, content []byte) (err error) {
	t := transition{base: filepath.Base(e.Path), temp: e.Temp}
	if t.dir, err = os.OpenRoot(filepath.Dir(e.Path)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.dir.Close()) }()
	if !onDisk(e) {
		return ErrStale
	}
	if t.from, _, err = look(t.dir, t.base); err != nil {
		return err
	}
	if t.to, _ = statesOf(e); t.temporary() {
		removeTemp(t.dir, t.temp)
		file, err := t.write(content, 0o600, func(temp *os.File) error {
			return errors.Join(t.likeOld(temp), temp.Chmod(t.to.Mode&keptMode))
		})
		if err == nil && file != nil {
			err = errors.Join(file.Sync(), file.Close())
		}
		if err != nil {
			return err
		}
	}
	_, err = t.put()
	return errors.Join(err, t.unlink(), syncDir(t.dir))
}

// likeOld gives temp the metadata of the old file, if one is there.
func (t *transition) likeOld(temp *os.File) error {
	if !t.from.Exists() || !t.from.Mode.IsRegular() {
		return nil
	}
	f, err := t.dir.OpenFile(t.base, os.O_RDONLY|noWait|noFollow, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = copyMetadata(temp, f, info)
	}
	return errors.Join(err, f.Close())
}

// Past returns all changes to the files, oldest first. Undone ones are marked.
func (r *Root) Past() ([]journal.Past, error) {
	if r.journal == nil {
		return nil, nil
	}
	past, err := r.journal.History(onDisk)
	if err != nil {
		return nil, fmt.Errorf("read the undo journal: %w", err)
	}
	return past, nil
}

// Stopped returns an undo that ended half way because its process died.
func (r *Root) Stopped() journal.Stopped {
	if r.journal == nil {
		return journal.Stopped{}
	}
	return r.journal.Stopped
}

// TakenBack returns the files that Open took back: a process died while it wrote them
// together with others.
func (r *Root) TakenBack() journal.TakenBack {
	if r.journal == nil {
		return journal.TakenBack{}
	}
	return r.journal.TakenBack
}

// Mark returns the present point in the order of the changes, see journal.Entry.Order; zero
// without a journal.
func (r *Root) Mark() int64 {
	if r.journal == nil {
		return 0
	}
	r.committing.Lock()
	defer r.committing.Unlock()
	return r.journal.Mark()
}

// Lost returns the time since which Past is complete; zero if nothing was dropped.
func (r *Root) Lost() (time.Time, error) {
	if r.journal == nil {
		return time.Time{}, nil
	}
	return r.journal.Lost()
}

// Forgettable counts the changes that Forget would forget.
func (r *Root) Forgettable(drop func(*journal.Entry) bool) (journal.Forgotten, error) {
	if r.journal == nil {
		return journal.Forgotten{}, nil
	}
	f, err := r.journal.Find(drop)
	if err != nil {
		return f, fmt.Errorf("read the undo journal: %w", err)
	}
	return f, nil
}

// Forget deletes the changes that drop selects, and the content before them, from the
// journal. They cannot be undone then.
func (r *Root) Forget(ctx context.Context, drop func(*journal.Entry) bool) (journal.Forgotten, error) {
	if r.journal == nil {
		return journal.Forgotten{}, nil
	}
	f, err := r.journal.Forget(ctx, drop)
	if err != nil {
		return f, fmt.Errorf("delete from the undo journal: %w", err)
	}
	return f, nil
}

// ForgetUndo is Root.Forget for the folder dir, which may be gone.
func ForgetUndo(ctx context.Context, home, dir string, drop func(*journal.Entry) bool) (journal.Forgotten, error) {
	r := Root{journal: journal.Open(home, dir, recovery())}
	return r.Forget(ctx, drop)
}

// ExpireUndo forgets the changes from before a time in all workspaces with this home.
func ExpireUndo(home string, before time.Time) error {
	if err := journal.Expire(home, before, recovery()); err != nil {
		return fmt.Errorf("delete old content from the undo journal: %w", err)
	}
	return nil
}

// onDisk reports whether the file holds the content after e.
func onDisk(e *journal.Entry) bool {
	if e.ModeAfter != nil {
		now, err := stateAt(e.Path)
		return err == nil && now.Left(e)
	}
	sum, err := hashOf(e.Path)
	return err == nil && same(sum, e.After)
}

// stateAt returns the state of a path. It does not follow a link at its end.
func stateAt(path string) (s State, err error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if missing(err) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	s, _, err = look(dir, filepath.Base(path))
	return s, errors.Join(err, dir.Close())
}

// hashOf returns the hash of a file, or nil if it is missing or has another spelling of the name.
func hashOf(path string) (*Hash, error) {
	info, err := os.Lstat(path)
	if err = asSpelled(path, err); missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait|noFollow, 0)
	if err != nil {
		return nil, err
	}
	data, err := readAll(f, info.Size())
	sum := Hash(sha256.Sum256(data))
	return &sum, errors.Join(err, f.Close())
}
