package workspace

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// history is what the journal says was done, oldest first.
type history struct {
	entries []past
	undone  map[string]bool // by entry
}

// past is an entry that was carried out, and the segment that has its blob.
type past struct {
	*entry
	segment string
	blobs   map[Hash]blobExtent
}

// history reads the journal. What is in doubt (another process is at it, or
// died since) counts as done if the file is as the entry says.
func (j *journal) history() (*history, error) {
	if j.failed != nil {
		return nil, j.failed
	}
	list, err := j.segments(logExt, liveExt)
	if err != nil {
		return nil, err
	}
	h := &history{undone: map[string]bool{}}
	for _, item := range list {
		path := filepath.Join(j.dir, item.Name())
		rs, err := scanFile(path)
		if errors.Is(err, fs.ErrNotExist) { // live when it was listed, a .log by now
			path = filepath.Join(j.dir, base(item.Name())+logExt)
			rs, err = scanFile(path)
		}
		if err != nil {
			return nil, err
		}
		for _, e := range rs.entries {
			if done, known := rs.done[e.ID]; done || !known && e.onDisk() {
				h.entries = append(h.entries, past{e, path, rs.blobs})
			}
		}
	}
	slices.SortStableFunc(h.entries, func(a, b past) int { return cmp.Compare(a.Time, b.Time) })
	h.markUndone()
	return h, nil
}

// markUndone finds the entries that were taken back: by an undo that was not
// taken back itself. An undo is always newer than what it takes back.
func (h *history) markUndone() {
	for _, e := range slices.Backward(h.entries) {
		if !h.undone[e.ID] {
			for _, id := range e.Undoes {
				h.undone[id] = true
			}
		}
	}
}

func scanFile(path string) (*records, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	rs, err := scan(f)
	return rs, errors.Join(err, f.Close())
}

// content returns what the file held before e.
func (e past) content() ([]byte, error) {
	f, err := os.Open(e.segment)
	if err != nil {
		return nil, err
	}
	at, ok := e.blobs[*e.Before]
	if !ok {
		return nil, errors.Join(errors.New("the undo journal no longer has its content"), f.Close())
	}
	data := make([]byte, at.size)
	_, err = f.ReadAt(data, at.offset)
	if err == nil && Hash(sha256.Sum256(data)) != *e.Before {
		err = errors.New("its content in the undo journal is damaged")
	}
	return data, errors.Join(err, f.Close())
}

// onDisk reports that the file is as it should be after e.
func (e *entry) onDisk() bool {
	sum, err := hashOf(e.Path)
	return err == nil && same(sum, e.After)
}

// hashOf returns the hash of a file; nil if it is missing.
func hashOf(path string) (*Hash, error) {
	info, err := os.Lstat(path)
	if missing(err) {
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

func same(a, b *Hash) bool { return a == b || a != nil && b != nil && *a == *b }
