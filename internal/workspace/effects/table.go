package effects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/gitignore"
)

// maxPaths is the number of files, links and folders of a workspace that is followed.
const maxPaths = 100_000

// stat holds the metadata that shows whether a file was touched.
type stat struct {
	mode               fs.FileMode
	size, mtime, ctime int64
	dev, ino           uint64
}

// table is the last known state of the files of a folder that git does not ignore.
type table struct {
	abs     string           // the folder
	above   *gitignore.Rules // of the folders above
	include *gitignore.Rules // ignored paths that count after all
	skip    map[string]bool  // absolute paths of folders of others
	top     *folder
	most    int64 // see maxPaths
	count   atomic.Int64
	unkept  atomic.Bool // an item may lack its copy
}

// folder is a folder of a table.
type folder struct {
	items map[string]*item
	list  []entry
	// at is the folder's stat when list was made; the zero value if its names may have
	// changed since without a trace in that.
	at    stat
	rules *gitignore.Rules // for its entries
	from  *gitignore.Rules // the rules above, from which rules was made
	file  stat             // of the .gitignore file
	git   bool             // it is the top of a repository
}

// entry is a name in a folder, with its item unless it is new.
type entry struct {
	name string
	item *item
}

// item is a file, a link or a folder.
type item struct {
	stat
	kept   extent
	inner  *folder // of a folder
	logged bool    // the log has it
	// fresh means that the file may change again without a trace in its stat.
	fresh bool
	seen  int64 // the last refresh that found it
}

// delta is a difference between two states of a table. before or now is nil if nothing is
// at the path.
type delta struct {
	name        string // relative to the table's folder, with slashes
	before, now *item
}

// tick is longer than the steps in which file systems count time; coarseTick is for those
// that count seconds.
const (
	tick       = 20 * time.Millisecond
	coarseTick = 3 * time.Second
)

// settled reports whether a change after now would show in the stat.
func (st stat) settled(now int64) bool {
	last := st.ctime
	if last == 0 { // unknown
		last = st.mtime
	}
	if last%int64(time.Second) == 0 {
		return now-last >= int64(coarseTick)
	}
	return now-last >= int64(tick)
}

// refresher is one refresh of a table.
type refresher struct {
	*table
	group *errgroup.Group
	now   int64
	since int64 // see refresh
	// timed is the device on which the stat of a folder shows changes of its names.
	timed uint64

	mu     sync.Mutex
	deltas []delta
}

// refresh brings the table up to date and returns the differences. A path that was
// ignored before and counts now is no difference if it is older than since.
func (t *table) refresh(ctx context.Context, since time.Time) ([]delta, error) {
	r := &refresher{table: t, now: time.Now().UnixNano(), since: since.UnixNano()}
	r.count.Store(0)
	r.group, ctx = errgroup.WithContext(ctx)
	r.group.SetLimit(runtime.GOMAXPROCS(0))
	at, err := openDir(t.abs)
	if err != nil {
		return nil, err
	}
	self, err := at.self()
	if err != nil {
		return nil, errors.Join(err, at.close())
	}
	if at.timesNames() {
		r.timed = self.dev
	}
	r.group.Go(func() error {
		defer crash.Guard()
		return (&visit{r, at, self, t.top, "", false}).run(ctx, t.above)
	})
	err = r.group.Wait()
	return r.deltas, err
}

// visit is the comparison of one folder.
type visit struct {
	*refresher
	at   dir
	self stat // of the folder
	f    *folder
	base string // the folder's name
	// ruled means that other paths may be ignored than before.
	ruled bool
}

// run compares the folder, and closes it.
func (v *visit) run(ctx context.Context, from *gitignore.Rules) (err error) {
	defer func() { err = errors.Join(err, v.at.close()) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	list, listErr := v.list(from)
	if listErr != nil {
		return nil // nobody can read it: its known items stay
	}
	v.f.at = stat{}
	kept := list[:0]
	for _, e := range list {
		it, err := v.entry(ctx, e)
		if err != nil {
			return err
		}
		if it != nil {
			kept = append(kept, entry{e.name, it})
		}
	}
	v.f.list = kept
	if v.count.Add(int64(len(kept))) > v.most {
		return fmt.Errorf("the folder has more than %d files that git does not ignore", v.most)
	}
	if len(kept) < len(v.f.items) {
		v.gone(v.f, v.base)
	}
	if v.self.dev == v.timed && v.self.settled(v.now) {
		v.f.at = v.self
	}
	return nil
}

// list returns the entries of the folder. It reads their names only if they may have
// changed.
func (v *visit) list(from *gitignore.Rules) ([]entry, error) {
	f := v.f
	if f.at.ino != 0 && f.at == v.self && f.from == from && !v.ruled {
		var file stat
		if f.file != file {
			file, _ = v.at.stat(".gitignore")
		}
		if f.file == file {
			return f.list, nil
		}
	}
	names, err := v.at.names()
	if err != nil {
		return nil, err
	}
	v.ruled = v.rules(v.at, f, v.base, names, from) || v.ruled
	list := make([]entry, len(names))
	for i, name := range names {
		list[i] = entry{name, f.items[name]}
	}
	return list, nil
}

// rules reads the .gitignore file of a folder, and reports whether other rules hold than
// before.
func (r *refresher) rules(at dir, f *folder, base string, names []string, from *gitignore.Rules) (changed bool) {
	var file stat
	git := false
	for _, name := range names {
		switch name {
		case ".gitignore":
			file, _ = at.stat(name) // unread, it ignores nothing
		case ".git":
			git = true
		}
	}
	known := f.items != nil
	if known && f.from == from && f.file == file && f.git == git {
		return false
	}
	var data []byte
	if file.mode.IsRegular() && file.size > 0 && file.size <= gitignore.MaxFile {
		data, _ = readFile(filepath.Join(r.abs, filepath.FromSlash(base), ".gitignore"), file)
	}
	f.from, f.file, f.git, f.rules = from, file, git, from.Under(base, data, git)
	if !known {
		f.items = map[string]*item{}
	}
	return known
}

// entry compares one name of the folder. It returns nil for a name that does not count.
func (v *visit) entry(ctx context.Context, e entry) (*item, error) {
	name, old := e.name, e.item
	if name == ".git" {
		return nil, nil
	}
	self, err := v.at.stat(name)
	switch {
	case err != nil && old != nil && !errors.Is(err, fs.ErrNotExist):
		old.seen = v.now
		return old, nil // see run
	case err != nil || self.mode&fs.ModeIrregular != 0:
		return nil, nil //nolint:nilerr // it is gone again, or nothing to undo
	}
	st := self
	if st.mode.IsDir() { // its content is compared itself
		st = stat{mode: st.mode, dev: st.dev, ino: st.ino}
	}
	if (old == nil || v.ruled) && v.ignored(v.f, path.Join(v.base, name), st) {
		delete(v.f.items, name)
		return nil, nil
	}
	it := v.update(e, st)
	if it.inner == nil {
		return it, nil
	}
	return it, v.enter(ctx, entry{name, it}, self)
}

// update returns the item with a stat for a name that counts.
func (v *visit) update(e entry, st stat) *item {
	it := e.item
	if it == nil || it.stat != st || it.fresh {
		it = v.compare(it, st, path.Join(v.base, e.name))
		v.f.items[e.name] = it
	}
	it.seen, it.fresh = v.now, !st.mode.IsDir() && !st.settled(v.now)
	return it
}

// enter compares the content of an item that is, or was, a folder.
func (v *visit) enter(ctx context.Context, e entry, self stat) error {
	rel := path.Join(v.base, e.name)
	if self.mode.IsDir() {
		return v.descend(ctx, e, self, rel)
	}
	v.lost(e.item.inner, rel)
	e.item.inner = nil
	return nil
}

// compare returns a new item for a path, and notes the difference.
func (v *visit) compare(old *item, st stat, rel string) *item {
	it := &item{stat: st}
	v.unkept.Store(true)
	if old != nil {
		it.inner = old.inner
	}
	if st.mode.IsDir() && it.inner == nil {
		it.inner = &folder{}
	}
	if old != nil || !v.ruled || st.mode.IsDir() || st.ctime >= v.since {
		v.add(delta{rel, old, it})
	}
	return it
}

func (r *refresher) ignored(f *folder, rel string, st stat) bool {
	if st.mode.IsDir() && r.skip[filepath.Join(r.abs, filepath.FromSlash(rel))] {
		return true
	}
	return f.rules.Match(rel, st.mode.IsDir()) && !r.include.Match(rel, st.mode.IsDir())
}

// descend compares a folder in the folder: in another goroutine if one is free.
func (v *visit) descend(ctx context.Context, e entry, self stat, rel string) error {
	at, openErr := v.at.open(e.name)
	if openErr != nil {
		return nil //nolint:nilerr // see run
	}
	below := &visit{v.refresher, at, self, e.item.inner, rel, v.ruled}
	rules := v.f.rules
	run := func() error {
		defer crash.Guard()
		return below.run(ctx, rules)
	}
	if v.group.TryGo(run) {
		return nil
	}
	return run()
}

// gone removes the items that are no longer in a folder.
func (r *refresher) gone(f *folder, base string) {
	for name, it := range f.items {
		if it.seen == r.now {
			continue
		}
		delete(f.items, name)
		rel := path.Join(base, name)
		r.add(delta{rel, it, nil})
		if it.inner != nil {
			r.lost(it.inner, rel)
		}
	}
}

// lost reports all of a folder as gone.
func (r *refresher) lost(f *folder, base string) {
	for name, it := range f.items {
		rel := path.Join(base, name)
		r.add(delta{rel, it, nil})
		if it.inner != nil {
			r.lost(it.inner, rel)
		}
	}
}

func (r *refresher) add(d delta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deltas = append(r.deltas, d)
}

// each calls visit for each item below f, with the folder it is in.
func (f *folder) each(base string, visit func(base, name string, it *item)) {
	for name, it := range f.items {
		visit(base, name, it)
		if it.inner != nil {
			it.inner.each(path.Join(base, name), visit)
		}
	}
}

// readFile reads a file if it still has this stat.
func readFile(name string, st stat) ([]byte, error) {
	f, err := open(name, st)
	if err != nil {
		return nil, err
	}
	data := make([]byte, st.size)
	_, err = io.ReadFull(f, data)
	if err == nil {
		err = unchanged(f, st)
	}
	return data, errors.Join(err, f.Close())
}

// open opens a file that has this stat.
func open(name string, st stat) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	if err := unchanged(f, st); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// errMoved is returned for a file that changes while it is read.
var errMoved = errors.New("it changed meanwhile")

func unchanged(f *os.File, st stat) error {
	now, err := statOf(f)
	if err == nil && now != st {
		err = errMoved
	}
	return err
}
