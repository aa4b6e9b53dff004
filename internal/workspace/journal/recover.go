package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// recover finishes the segments of processes that died: it cuts a torn tail and recovers
// each entry without an outcome. It leaves the segments of living processes alone, and
// removes lock files without a segment and segments that were only partly written anew.
func (j *Journal) recover(rec Recover) error {
	list, err := j.segments(liveExt, lockExt, newExt)
	if err != nil {
		return err
	}
	last := ""
	for _, item := range list {
		if base(item.Name()) == last {
			continue // sorted by name: its lock file came before
		}
		last = base(item.Name())
		if err := j.recoverSegment(filepath.Join(j.dir, base(item.Name())), rec); err != nil {
			return fmt.Errorf("recover %s: %w", item.Name(), err)
		}
	}
	return nil
}

// recoverSegment finishes one segment, given without its extension, unless its lock is
// held.
func (j *Journal) recoverSegment(path string, rec Recover) error {
	lock, err := statefile.TryAcquire(path + lockExt)
	if errors.Is(err, statefile.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	// Another process may have been faster at any of this.
	err = errors.Join(
		ignoreMissing(j.finishSegment(path, rec)),
		ignoreMissing(os.Remove(path+newExt)),
	)
	return errors.Join(err, lock.Remove())
}

func (j *Journal) finishSegment(path string, rec Recover) error {
	f, err := os.OpenFile(path+liveExt, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	rs, err := scan(f)
	if err == nil {
		err = f.Truncate(rs.end)
	}
	if err == nil {
		if back := rs.takeBack(f, rec); back.Of > 0 {
			j.TakenBack = back
		}
		err = rs.finish(f, rec)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if s := rs.stopped(); s.Of > 0 {
		j.Stopped = s
	}
	return os.Rename(path+liveExt, path+logExt)
}

// takeBack recovers the files that were written together, unless the outcome of one shows
// that all of them were.
func (rs *records) takeBack(f *os.File, rec Recover) (out TakenBack) {
	groups, order, known := map[string][]*Entry{}, []string{}, map[string]bool{}
	for _, e := range rs.entries {
		if e.Together == 0 {
			continue
		}
		if groups[e.Run] == nil {
			order = append(order, e.Run)
		}
		groups[e.Run] = append(groups[e.Run], e)
		_, ended := rs.done[e.ID]
		known[e.Run] = known[e.Run] || ended
	}
	for _, run := range order {
		if known[run] || rec.Group == nil {
			continue
		}
		back := rec.Group(groups[run], func(e *Entry) ([]byte, error) { return Past{Entry: e, blobs: rs.blobs}.read(f, *e.Before) })
		if back.Of > 0 {
			out = back
		}
	}
	return out
}

// finish writes the missing outcomes to f.
func (rs *records) finish(f *os.File, rec Recover) error {
	for _, e := range rs.entries {
		if _, known := rs.done[e.ID]; known {
			continue
		}
		done, err := rec.Entry(e)
		if err != nil {
			return err
		}
		rs.done[e.ID] = done
		data, err := encodeJSON(outcomeRecord, outcome{ID: e.ID, Done: done})
		if err != nil {
			return err
		}
		if _, err := f.WriteAt(data, rs.end); err != nil {
			return err
		}
		rs.end += int64(len(data))
	}
	return nil
}

// stopped returns the undo at the end of the segment if it was made in part. An undo of
// which nothing was made does not count.
func (rs *records) stopped() Stopped {
	if len(rs.entries) == 0 {
		return Stopped{}
	}
	last := rs.entries[len(rs.entries)-1]
	s := Stopped{Of: last.Of}
	for _, e := range rs.entries {
		if e.Of > 0 && e.Turn == last.Turn && rs.done[e.ID] {
			s.Done++
		}
	}
	if s.Done == 0 || s.Done == s.Of {
		return Stopped{}
	}
	return s
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
