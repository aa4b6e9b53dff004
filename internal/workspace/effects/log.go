package effects

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// record is a line of the log of a store. The log holds the tables and the commands that
// run, so that the effects of a command can be found after this process was killed.
type record struct {
	Table int    `json:"t,omitzero"` // index
	Name  []byte `json:"n,omitzero"` // of an item, relative to the table's folder
	Gone  bool   `json:"gone,omitzero"`
	Item  *saved `json:"i,omitzero"`

	Begun *begun `json:"begun,omitzero"`
	Ended string `json:"ended,omitzero"` // the ID of a run
}

// saved is an item.
type saved struct {
	Mode               fs.FileMode
	Size, MTime, CTime int64
	Dev, Ino           uint64
	Kept               bool
	Offset             int64
	Why                string `json:",omitzero"`
	Fresh              bool   `json:",omitzero"`
}

// begun is the beginning of a run.
type begun struct {
	At time.Time
	By workspace.Origin
}

func (it *item) saved() *saved {
	return &saved{it.mode, it.size, it.mtime, it.ctime, it.dev, it.ino, it.kept.kept, it.kept.offset, it.kept.why, it.fresh}
}

func (s *saved) item() *item {
	it := &item{
		stat: stat{mode: s.Mode, size: s.Size, mtime: s.MTime, ctime: s.CTime, dev: s.Dev, ino: s.Ino},
		kept: extent{s.Kept, s.Offset, s.Why}, logged: true, fresh: s.Fresh,
	}
	if it.mode.IsDir() {
		it.inner = &folder{items: map[string]*item{}}
	}
	return it
}

// past is the content of a log.
type past struct {
	tables []*folder
	begun  []begun // the runs that did not end, oldest first
}

// readLog reads a log up to a torn line.
func readLog(in io.Reader, tables int) (*past, error) {
	p := &past{}
	for range tables {
		p.tables = append(p.tables, &folder{items: map[string]*item{}})
	}
	dec := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	for {
		var r record
		err := dec.Decode(&r)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case r.Begun != nil:
			p.begun = append(p.begun, *r.Begun)
		case r.Ended != "":
			p.end(r.Ended)
		case r.Table < tables:
			p.tables[r.Table].put(string(r.Name), r.Item)
		}
	}
}

func (p *past) end(id string) {
	for i, b := range p.begun {
		if b.By.Run == id {
			p.begun = append(p.begun[:i], p.begun[i+1:]...)
			return
		}
	}
}

// put sets the item with a name, which may have slashes; nil removes it.
func (f *folder) put(name string, s *saved) {
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		if dir == "." {
			break
		}
		it := f.items[dir]
		if it == nil || it.inner == nil {
			if s == nil {
				return
			}
			it = (&saved{Mode: fs.ModeDir | 0o755}).item()
			f.items[dir] = it
		}
		f = it.inner
	}
	last := path.Base(name)
	if s == nil {
		delete(f.items, last)
		return
	}
	it := s.item()
	if old := f.items[last]; old != nil && old.inner != nil && it.inner != nil {
		it.inner = old.inner
	}
	f.items[last] = it
}
