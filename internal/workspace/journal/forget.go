package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// newExt is the extension of a segment that is written anew, without some entries.
const newExt = ".new"

// Forgotten counts the changes that a journal forgot, or would.
type Forgotten struct {
	Paths   []string // of the files, sorted
	Changes int      // of these
	Busy    int      // further changes, in the segments of running processes
	newest  int64    // time of the last of them
}

// add counts the entries of a segment that drop selects.
func (f *Forgotten) add(rs *records, drop func(*Entry) bool) {
	for _, e := range rs.entries {
		if !drop(e) {
			continue
		}
		f.Changes++
		f.newest = max(f.newest, e.Time)
		if i, found := slices.BinarySearch(f.Paths, e.Path); !found {
			f.Paths = slices.Insert(f.Paths, i, e.Path)
		}
	}
}

// Find counts what Forget would forget.
func (j *Journal) Find(drop func(*Entry) bool) (f Forgotten, err error) {
	return f, j.forget(drop, &f, func(string, *records) error { return nil })
}

// Forget deletes the entries that drop selects, with their content, from the disk. Those
// of running processes stay. After a crash in the middle, each segment has all of its
// entries or none of the selected ones.
func (j *Journal) Forget(ctx context.Context, drop func(*Entry) bool) (f Forgotten, err error) {
	if found, err := j.Find(drop); err != nil || found.Changes == 0 {
		return found, err
	}
	lock, err := j.Lock(ctx) // nobody looks for content that goes
	if err != nil {
		return f, err
	}
	err = j.delete(drop, &f)
	return f, errors.Join(err, lock.Release())
}

// delete is Forget while no file is replaced.
func (j *Journal) delete(drop func(*Entry) bool, f *Forgotten) error {
	return j.forget(drop, f, func(path string, rs *records) error {
		if err := j.noteLost(time.Unix(0, f.newest)); err != nil {
			return err
		}
		return rs.rewrite(path, drop)
	})
}

// forget calls do for each finished segment with selected entries, after counting them.
func (j *Journal) forget(drop func(*Entry) bool, f *Forgotten, do func(path string, rs *records) error) error {
	if j.failed != nil {
		return j.failed
	}
	list, err := j.segments(logExt, liveExt)
	if err != nil {
		return err
	}
	for _, item := range list {
		path := filepath.Join(j.dir, item.Name())
		rs, err := scanFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // pruned, or finished, by another process
		}
		if err != nil {
			return err
		}
		if filepath.Ext(path) == liveExt {
			var busy Forgotten
			busy.add(rs, drop)
			f.Busy += busy.Changes
			continue
		}
		if !slices.ContainsFunc(rs.entries, drop) {
			continue
		}
		f.add(rs, drop)
		if err := do(strings.TrimSuffix(path, logExt), rs); err != nil {
			return err
		}
	}
	return nil
}

// rewrite replaces the finished segment at path, without extension, by one without the
// entries that drop selects, or removes it if none is left.
func (rs *records) rewrite(path string, drop func(*Entry) bool) error {
	kept := slices.DeleteFunc(slices.Clone(rs.entries), drop)
	if len(kept) == 0 {
		return ignoreMissing(os.Remove(path + logExt))
	}
	lock, err := statefile.TryAcquire(path + lockExt)
	if err != nil {
		return err
	}
	err = rs.copy(path, kept)
	if err == nil {
		err = os.Rename(path+newExt, path+logExt)
	}
	if err != nil {
		err = errors.Join(err, ignoreMissing(os.Remove(path+newExt)))
	}
	return errors.Join(err, lock.Remove(), statefile.SyncDir(filepath.Dir(path)))
}

// copy writes the kept entries, their content and their outcomes to a new file.
func (rs *records) copy(path string, kept []*Entry) error {
	from, err := os.Open(path + logExt)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if err := ignoreMissing(os.Remove(path + newExt)); err != nil {
		return err
	}
	to, err := statefile.OpenAppend(path + newExt)
	if err != nil {
		return err
	}
	err = rs.copyTo(to, from, kept)
	if err == nil {
		err = to.Sync()
	}
	// The age of the segment stays that of its last entry.
	return errors.Join(err, to.Close(), os.Chtimes(path+newExt, time.Time{}, info.ModTime()))
}

func (rs *records) copyTo(to io.Writer, from io.ReaderAt, kept []*Entry) error {
	written := rs.forgotten(kept)
	for _, e := range kept {
		if e.Before != nil {
			delete(written, *e.Before) // its undo needs it
		}
	}
	for _, e := range kept {
		var out []byte
		for _, hash := range []*Hash{e.Before, e.After} {
			if hash == nil || written[*hash] {
				continue
			}
			if at, ok := rs.blobs[*hash]; ok {
				data := make([]byte, at.size)
				if _, err := from.ReadAt(data, at.offset); err != nil {
					return err
				}
				out = appendRecord(out, blobRecord, hash[:], data)
				written[*hash] = true
			}
		}
		entry, err := encodeJSON(entryRecord, e)
		if err != nil {
			return err
		}
		out = append(out, entry...)
		if done, known := rs.done[e.ID]; known {
			end, err := encodeJSON(outcomeRecord, outcome{ID: e.ID, Done: done})
			if err != nil {
				return err
			}
			out = append(out, end...)
		}
		if _, err := to.Write(out); err != nil {
			return err
		}
	}
	return nil
}

// forgotten returns the contents before and after the entries that are not kept.
func (rs *records) forgotten(kept []*Entry) map[Hash]bool {
	out := map[Hash]bool{}
	for _, e := range rs.entries {
		if slices.Contains(kept, e) {
			continue
		}
		for _, hash := range []*Hash{e.Before, e.After} {
			if hash != nil {
				out[*hash] = true
			}
		}
	}
	return out
}

// noteLost records that entries up to t are gone.
func (j *Journal) noteLost(t time.Time) error {
	if before, err := j.Lost(); err == nil && !before.Before(t) {
		return nil
	}
	return statefile.Write(filepath.Join(j.dir, lostFile), []byte(t.UTC().Format(time.RFC3339Nano)))
}

// Expire forgets the entries from before a time, in the journals of all workspaces in
// home. It reads only the segments that were begun before it. While another process
// replaces a file, it leaves the rest to the next call.
func Expire(home string, before time.Time, rec Recover) error {
	dirs, err := os.ReadDir(filepath.Join(home, "undo"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, d := range dirs {
		if d.IsDir() {
			j := &Journal{home: home, dir: filepath.Join(home, "undo", d.Name())}
			err = errors.Join(err, j.expire(before, rec))
		}
	}
	return err
}

func (j *Journal) expire(before time.Time, rec Recover) error {
	list, err := j.segments(logExt, liveExt)
	if err != nil || !slices.ContainsFunc(list, func(e fs.DirEntry) bool { return begun(e.Name()).Before(before) }) {
		return err
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil || filepath.Ext(e.Name()) != liveExt || !info.ModTime().Before(before) {
			continue // finished, or not yet for long
		}
		if err := j.recoverSegment(filepath.Join(j.dir, base(e.Name())), rec); err != nil {
			return err
		}
	}
	lock, err := statefile.TryAcquire(j.lockFile())
	if errors.Is(err, statefile.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	err = j.delete(func(e *Entry) bool { return e.Time < before.UnixNano() }, new(Forgotten))
	return errors.Join(err, lock.Release())
}

// begun returns the time in a segment's name.
func begun(name string) time.Time {
	digits, _, _ := strings.Cut(name, "-")
	n, err := strconv.ParseInt(strings.TrimLeft(digits, "0"), 10, 64)
	if err != nil {
		return time.Time{} // old: look into it
	}
	return time.Unix(0, n)
}
