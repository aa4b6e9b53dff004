// Package journal keeps what is needed to undo changes of files: what each file
// held before each change. It guarantees that once Sync has returned, an entry
// and the content that it needs survive any crash, that a torn or damaged record
// is never taken for a whole one, that processes do not wait for each other, and
// that the journal stays within its bounds, the oldest content going first.
package journal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Bounds of the undo journal of one workspace, in bytes and in files.
const (
	maxSegment  = 16 << 20
	maxJournal  = 200 << 20
	maxSegments = 400
)

// Journal is the undo journal of one workspace. It is a folder of segments. A
// process writes into a segment of its own (.live, with a .lock that it holds);
// a segment that is done with is a .log.
//
// A segment is a sequence of records (see record.go): blobs, which hold the
// content of a file and are known by its hash; entries, which say what is about
// to be done; and outcomes, which say that it was done, or not.
//
// Its methods are for one goroutine at a time.
type Journal struct {
	home string
	dir  string
	live *segment
	last int64 // time of the last entry
	// failed is why the journal cannot be used.
	failed error
	// Stopped is an undo that a process died of, if Open found one.
	Stopped Stopped
}

// Stopped is an undo that came to its end for some of its files only.
type Stopped struct{ Done, Of int }

// segment is the one that this process writes.
type segment struct {
	path  string // without extension
	file  *os.File
	lock  *statefile.Lock
	size  int64
	blobs map[Hash]bool
	open  map[string]bool // entries without an outcome
}

// Settle finds out what came of an entry whose process died: whether the file is
// as the entry says. It also removes what the process left behind.
type Settle func(*Entry) (done bool, err error)

// Open opens the journal of the workspace root in home, and finishes segments of
// processes that died. If that fails, the workspace can be read all the same;
// the other methods return the error.
func Open(home, root string, settle Settle) *Journal {
	sum := sha256.Sum256([]byte(root))
	j := &Journal{home: home, dir: filepath.Join(home, "undo", hex.EncodeToString(sum[:16]))}
	j.failed = j.recover(settle)
	return j
}

// Lock waits until no other process with this home is about to replace a file.
func (j *Journal) Lock(ctx context.Context) (*statefile.Lock, error) {
	return statefile.Acquire(ctx, filepath.Join(j.home, "undo", "commit.lock"))
}

// Keep writes the content that has a hash, unless the segment has it already.
func (j *Journal) Keep(hash Hash, content []byte) error {
	if err := j.open(); err != nil {
		return err
	}
	if j.live.blobs[hash] {
		return nil
	}
	if err := j.write(appendRecord(nil, blobRecord, hash[:], content)); err != nil {
		return err
	}
	j.live.blobs[hash] = true
	return nil
}

// Begin writes what is about to be done, and gives it an ID and a time. The
// content that is needed to undo it must be kept right before.
func (j *Journal) Begin(e *Entry) error {
	if j.live == nil {
		if err := j.open(); err != nil {
			return err
		}
	}
	e.ID = rand.Text()
	e.Time = max(time.Now().UnixNano(), j.last+1)
	j.last = e.Time
	data, err := encodeJSON(entryRecord, e)
	if err != nil {
		return err
	}
	j.live.open[e.ID] = true
	return j.write(data)
}

// End writes what came of e. It need not be durable, and after a failure of the
// journal, which is reported already, it is left out: recovery finds it out.
func (j *Journal) End(e *Entry, done bool) error {
	if j.live == nil {
		return nil
	}
	data, err := encodeJSON(outcomeRecord, outcome{ID: e.ID, Done: done})
	if err != nil {
		return err
	}
	if err := j.write(data); err != nil {
		return err
	}
	delete(j.live.open, e.ID)
	return nil
}

// Sync makes what was written durable. After an error nothing is known about
// what is on the disk, and trying again would not tell.
func (j *Journal) Sync() error {
	if err := j.live.file.Sync(); err != nil {
		return errors.Join(err, j.abandon())
	}
	return nil
}

// write appends one record.
func (j *Journal) write(data []byte) error {
	n, err := j.live.file.Write(data)
	j.live.size += int64(n)
	if err != nil {
		return errors.Join(err, j.abandon())
	}
	return nil
}

// open makes sure that there is a segment to write to.
func (j *Journal) open() error {
	if j.failed != nil {
		return j.failed
	}
	if j.live != nil && j.live.size < maxSegment {
		return nil
	}
	if j.live != nil {
		if err := j.retire(); err != nil {
			return err
		}
	}
	if err := makeDir(j.dir); err != nil {
		return err
	}
	if err := j.prune(); err != nil {
		return err
	}
	path, lock, err := newLock(j.dir)
	if err != nil {
		return err
	}
	file, err := statefile.OpenAppend(path + liveExt)
	if err != nil {
		return errors.Join(err, lock.Release())
	}
	j.live = &segment{path: path, file: file, lock: lock, blobs: map[Hash]bool{}, open: map[string]bool{}}
	return statefile.SyncDir(j.dir)
}

// newLock names a segment in dir and takes its lock. Another process that cleans up may
// take a lock file for the leftover of a dead one, in the instant before it is
// locked: such a name is given up.
func newLock(dir string) (path string, lock *statefile.Lock, err error) {
	for range 10 {
		path = filepath.Join(dir, fmt.Sprintf("%020d-%s", time.Now().UnixNano(), rand.Text()[:8]))
		lock, err = statefile.TryAcquire(path + lockExt)
		if errors.Is(err, statefile.ErrLocked) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		if _, err = os.Stat(path + lockExt); err == nil {
			return path, lock, nil // who opens the file from now on finds it locked
		}
		err = errors.Join(err, lock.Release())
	}
	return "", nil, err
}

// unlock removes a segment's lock file and then releases it: in this order, nobody
// can take the lock of a file that is about to go. Where open files cannot be
// removed it goes after the release.
func unlock(path string, lock *statefile.Lock) error {
	first := os.Remove(path + lockExt)
	err := lock.Release()
	if first != nil {
		err = errors.Join(err, ignoreMissing(os.Remove(path+lockExt)))
	}
	return err
}

// makeDir makes the journal's folder, durably.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := statefile.Mkdir(dir); err != nil {
		return err
	}
	undo := filepath.Dir(dir)
	return errors.Join(statefile.SyncDir(undo), statefile.SyncDir(filepath.Dir(undo)))
}

// retire closes the segment that is written to. One with an entry that nobody could
// settle stays for recovery.
func (j *Journal) retire() error {
	s := j.live
	if len(s.open) > 0 {
		return j.abandon()
	}
	j.live = nil
	return errors.Join(
		s.file.Close(),
		os.Rename(s.path+liveExt, s.path+logExt),
		unlock(s.path, s.lock),
	)
}

// abandon gives up the segment, after an error above all: what is written behind a
// torn record would not be found again. It stays for recovery.
func (j *Journal) abandon() error {
	s := j.live
	j.live = nil
	return errors.Join(s.file.Close(), unlock(s.path, s.lock))
}

// Close ends the segment that this process writes.
func (j *Journal) Close() error {
	if j.live == nil {
		return nil
	}
	return j.retire()
}

// The extensions of a segment's files.
const (
	liveExt = ".live"
	logExt  = ".log"
	lockExt = ".lock"
)

// segments lists the segments with one of the extensions, oldest first.
func (j *Journal) segments(exts ...string) ([]fs.DirEntry, error) {
	list, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool {
		return !slices.Contains(exts, filepath.Ext(e.Name()))
	}), err
}

// prune removes the oldest segments until the journal is within its bounds, and
// notes until when they went.
func (j *Journal) prune() error {
	list, err := j.segments(logExt)
	if err != nil {
		return err
	}
	slices.Reverse(list)
	total, count, noted := int64(maxSegment), 1, false
	for _, e := range list {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process prunes too
		}
		if err != nil {
			return err
		}
		total += info.Size()
		count++
		if total <= maxJournal && count <= maxSegments {
			continue
		}
		if !noted { // the newest that goes
			note := info.ModTime().UTC().Format(time.RFC3339Nano)
			if err := statefile.Write(filepath.Join(j.dir, lostFile), []byte(note)); err != nil {
				return err
			}
			noted = true
		}
		if err := os.Remove(filepath.Join(j.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// lostFile is the file that says until when entries are missing.
const lostFile = "lost"

// Lost returns the time from which on all entries are there; it is zero if none
// had to go.
func (j *Journal) Lost() (time.Time, error) {
	text, err := os.ReadFile(filepath.Join(j.dir, lostFile))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, string(text))
}

// base is the name of a segment without its extension.
func base(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
