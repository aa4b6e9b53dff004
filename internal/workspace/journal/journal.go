// Package journal keeps the data to undo changes of files: the content of each file
// before each change, and texts after it. It guarantees that after Sync an entry and its
// content survive any crash, that a torn or damaged record is never mistaken for a good one,
// that processes do not wait for each other, that the journal stays within its bounds by
// dropping the oldest content, and that forgotten content is in none of its files.
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

// Journal is the undo journal of one workspace: a folder of segments. A process writes to
// a segment of its own (.live, with a .lock that it holds); a finished segment is a .log.
//
// A segment is a sequence of records (see record.go): blobs, which hold the content of a
// file and are identified by its hash; entries, which describe a change about to be made;
// and outcomes, which record whether it was made.
//
// Its methods must not be called concurrently.
type Journal struct {
	home string
	dir  string
	live *segment
	last int64 // time of the last entry
	// seq is the highest Seq that this process knows. Others are asked for theirs once
	// before each Sync.
	seq   int64
	asked bool
	// failed is the reason why the journal cannot be used.
	failed error
	// Stopped is the undo, if Open found one, during which a process died.
	Stopped Stopped
	// TakenBack is not zero if Open found a process that died while it wrote files together.
	TakenBack TakenBack
}

// TakenBack describes files that were to be written together, all or none, by a process
// that died in the middle.
type TakenBack struct {
	Of    int      // all files
	Names []string // of those that have their old content again
	Left  []string // of those that could not be taken back, mostly because they were changed since
}

// Stopped is an undo that finished only Done of its files.
type Stopped struct{ Done, Of int }

// segment is the segment that this process writes.
type segment struct {
	path  string // without extension
	file  *os.File
	lock  *statefile.Lock
	size  int64
	blobs map[Hash]bool
	open  map[string]bool // entries without an outcome
}

// Recover recovers entries whose process died.
type Recover struct {
	// Entry reports whether the change of an entry was made, and removes what the process
	// left behind.
	Entry func(*Entry) (done bool, err error)
	// Group is called before Entry with the entries of files that were written together. It
	// takes back those that were made if others were not. content returns the content before
	// an entry.
	Group func(entries []*Entry, content func(*Entry) ([]byte, error)) TakenBack
}

// Open opens the journal of the workspace root in home and finishes the segments of
// processes that died. After an error the workspace can still be read; the other methods
// return the error.
func Open(home, root string, rec Recover) *Journal {
	sum := sha256.Sum256([]byte(root))
	j := &Journal{home: home, dir: filepath.Join(home, "undo", hex.EncodeToString(sum[:16]))}
	j.failed = j.recover(rec)
	return j
}

// Lock waits until no other process with this home is about to replace a file.
func (j *Journal) Lock(ctx context.Context) (*statefile.Lock, error) {
	return statefile.Acquire(ctx, j.lockFile())
}

func (j *Journal) lockFile() string { return filepath.Join(j.home, "undo", "commit.lock") }

// Keep writes a content under its hash unless the segment has it already.
func (j *Journal) Keep(hash Hash, content []byte) error {
	if err := j.open(); err != nil {
		return err
	}
	return j.keep(hash, content)
}

func (j *Journal) keep(hash Hash, content []byte) error {
	if j.live.blobs[hash] {
		return nil
	}
	if err := j.write(appendRecord(nil, blobRecord, hash[:], content)); err != nil {
		return err
	}
	j.live.blobs[hash] = true
	return nil
}

// KeepAfter writes the content after a change beside the one before it, which Keep must have
// written just before: it is not needed to undo the change, but to merge its undo with later
// changes.
func (j *Journal) KeepAfter(hash Hash, content []byte) error {
	if j.live == nil {
		return errors.New("the records were given up after an error")
	}
	return j.keep(hash, content)
}

// Begin writes the entry e for a change about to be made and sets its ID and Time. Keep
// must have been called just before with the content needed to undo it.
func (j *Journal) Begin(e *Entry) error {
	if j.live == nil {
		if err := j.open(); err != nil {
			return err
		}
	}
	e.ID = rand.Text()
	e.Time = max(time.Now().UnixNano(), j.last+1)
	j.last = e.Time
	e.Seq = j.next(e.Time)
	data, err := encodeJSON(entryRecord, e)
	if err != nil {
		return err
	}
	j.live.open[e.ID] = true
	return j.write(data)
}

// End records whether the change of e was made. The record need not be durable: End omits
// it after a failure of the journal, which was returned already, and recovery finds out.
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

// Sync makes the written records durable. After an error the state of the disk is
// unknown, and another attempt would not tell.
func (j *Journal) Sync() error {
	if j.live == nil {
		return errors.New("the records were given up after an error")
	}
	if err := errors.Join(j.noteSeq(), j.live.file.Sync()); err != nil {
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

// open ensures that there is a segment to write to.
func (j *Journal) open() error {
	if j.failed != nil {
		return j.failed
	}
	if j.live != nil && (j.live.size < maxSegment || len(j.live.open) > 0) { // outcomes stay with their entries
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

// newLock names a segment in dir and takes its lock. Before the lock file is locked,
// another process that cleans up may take it for a dead one's leftover; newLock then
// tries another name.
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
			return path, lock, nil // from now on everybody finds it locked
		}
		err = errors.Join(err, lock.Release())
	}
	return "", nil, err
}

// makeDir makes the journal's folder durably.
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

// retire closes the current segment. A segment with an entry in doubt stays for recovery.
func (j *Journal) retire() error {
	s := j.live
	if len(s.open) > 0 {
		return j.abandon()
	}
	j.live = nil
	return errors.Join(
		s.file.Close(),
		os.Rename(s.path+liveExt, s.path+logExt),
		s.lock.Remove(),
	)
}

// abandon gives up the current segment after an error: records after a torn one would not
// be found. The segment stays for recovery.
func (j *Journal) abandon() error {
	s := j.live
	j.live = nil
	return errors.Join(s.file.Close(), s.lock.Remove())
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

// segments lists the segments with one of the given extensions, oldest first.
func (j *Journal) segments(exts ...string) ([]fs.DirEntry, error) {
	list, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool {
		return !slices.Contains(exts, filepath.Ext(e.Name()))
	}), err
}

// prune removes the oldest segments until the journal is within its bounds, and records
// until when entries are gone.
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
			continue // another process is pruning too
		}
		if err != nil {
			return err
		}
		total += info.Size()
		count++
		if total <= maxJournal && count <= maxSegments {
			continue
		}
		if !noted { // the newest one removed
			if err := j.noteLost(info.ModTime()); err != nil {
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

// lostFile records until when entries are gone.
const lostFile = "lost"

// Lost returns the time since which all entries are there; zero if none was dropped.
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

// base returns the name of a segment without its extension.
func base(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
