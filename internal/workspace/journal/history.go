package journal

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Past is an entry whose change was made.
type Past struct {
	*Entry
	Undone  bool // by an entry that is not undone itself
	segment string
	blobs   map[Hash]blobExtent
}

// History returns the changes made, oldest first. A change in doubt, because another
// process is making it or died, counts as made if onDisk returns true.
func (j *Journal) History(onDisk func(*Entry) bool) ([]Past, error) {
	if j.failed != nil {
		return nil, j.failed
	}
	list, err := j.segments(logExt, liveExt)
	if err != nil {
		return nil, err
	}
	var past []Past
	for _, item := range list {
		path := filepath.Join(j.dir, item.Name())
		rs, err := scanFile(path)
		if errors.Is(err, fs.ErrNotExist) { // live when listed, a .log by now
			path = filepath.Join(j.dir, base(item.Name())+logExt)
			rs, err = scanFile(path)
		}
		if err != nil {
			return nil, err
		}
		for _, e := range rs.entries {
			if done, known := rs.done[e.ID]; done || !known && onDisk(e) {
				past = append(past, Past{Entry: e, segment: path, blobs: rs.blobs})
			}
		}
	}
	slices.SortStableFunc(past, func(a, b Past) int { return cmp.Compare(a.Order(), b.Order()) })
	markUndone(past)
	return past, nil
}

// markUndone marks the undone entries. An undo may seem older than the entries that it
// undoes, if the clock was set back between them.
func markUndone(past []Past) {
	m := marks{past: past, undoers: map[string][]int{}, known: make([]bool, len(past))}
	for i, e := range past {
		if e.Part {
			continue
		}
		for _, id := range e.Undoes {
			m.undoers[id] = append(m.undoers[id], i)
		}
	}
	for i := range slices.Backward(past) {
		m.mark(i)
	}
}

// marks is the state of markUndone.
type marks struct {
	past    []Past
	undoers map[string][]int // entries that undo one, by its ID
	known   []bool           // whether Undone is set
}

// mark sets Undone of an entry and of those that undo it.
func (m *marks) mark(i int) {
	if m.known[i] {
		return
	}
	m.known[i] = true // also ends the search in a damaged journal that goes round
	for _, by := range m.undoers[m.past[i].ID] {
		m.mark(by)
		m.past[i].Undone = m.past[i].Undone || !m.past[by].Undone
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

// Content returns the content before e, which must have had a file.
func (e Past) Content() ([]byte, error) { return e.content(*e.Before) }

// ContentAfter returns the content after e, which must have left a file. The journal has it
// for edits, and for most texts that commands changed.
func (e Past) ContentAfter() ([]byte, error) { return e.content(*e.After) }

func (e Past) content(hash Hash) ([]byte, error) {
	if e.Unkept != "" {
		return nil, errors.New(e.Unkept)
	}
	f, err := os.Open(e.segment)
	if err != nil {
		return nil, err
	}
	data, err := e.read(f, hash)
	return data, errors.Join(err, f.Close())
}

// read returns the content with a hash from the segment of e.
func (e Past) read(f *os.File, hash Hash) ([]byte, error) {
	at, ok := e.blobs[hash]
	if !ok {
		return nil, errors.New("the undo journal no longer has its content")
	}
	data := make([]byte, at.size)
	_, err := f.ReadAt(data, at.offset)
	if err == nil && Hash(sha256.Sum256(data)) != hash {
		err = errors.New("its content in the undo journal is damaged")
	}
	return data, err
}
