// Package archive stores sessions, each in a file to which every step is appended
// before the next one starts. It guarantees that appended records survive a crash, that
// a torn or damaged record does not cost another, and that one process at a time writes
// a session.
package archive

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Info describes a stored session.
type Info struct {
	ID      string
	Dir     string // the folder that it worked in
	Model   string // provider/name at its start
	From    string // the session that it was forked from; empty for none
	Title   string // the user's, else the first prompt, and the next ones if it is short: one line, 200 columns at most
	Branch  string // at the end of its last turn
	Prompts int    // at the end of its last turn
	Created time.Time
	Updated time.Time
	Size    int64 // bytes on disk
	Open    bool  // a process had it open when List read it
}

// Conversation is the content of a session's file.
type Conversation struct {
	Entries []history.Entry
	Usage   llm.Usage
	Context int64             // tokens of the last request and its answer; zero if more has changed since
	Efforts map[string]string // the user's choice for each model, by its name; see State
	Start   Start             // zero if unknown
	Notes   []string          // damage that was found, a line each for the user
}

// Messages returns the messages that were not rewound.
func (c Conversation) Messages() []llm.Message {
	chat, _, _ := history.Rebuild(c.Entries)
	all := history.Messages(chat.Items())
	for i, it := range chat.Items() {
		all[i] = it.Whole().Message
	}
	return all
}

// ErrNoSession is returned if there is no session to open.
var ErrNoSession = errors.New("no such session")

// Archive is the folder with the sessions of all projects. Each project has a folder,
// each session a file in it, with a lock file beside it.
type Archive struct{ dir string }

// The extensions of the two files.
const (
	fileExt = ".jsonl"
	lockExt = ".lock"
)

// idLength is the length of an id in characters: 50 random bits.
const idLength = 10

// NewID returns a unique id for a session or a turn.
func NewID() string { return strings.ToLower(rand.Text()[:idLength]) }

// headSize and tailSize are how much of a file List reads, in bytes: its first records
// and its newest state.
const (
	headSize = 8 << 10
	tailSize = 24 << 10
)

// New returns the archive in home/sessions without touching a file.
func New(home string) *Archive {
	return &Archive{dir: filepath.Join(home, "sessions")}
}

// Create returns the store of a new session in dir (absolute) with the named model. The
// first record creates the file.
func (a *Archive) Create(dir, model string) *Store {
	id := NewID()
	return &Store{
		path: filepath.Join(a.project(dir), id+fileExt),
		info: Info{ID: id, Dir: dir, Model: model, Created: time.Now().Round(0)},
	}
}

// Latest opens the session of dir that was written last, or returns ErrNoSession. It
// skips sessions that other processes have open, and returns their number. If all are
// open, it returns the error of the newest.
func (a *Archive) Latest(dir string) (s *Store, open int, err error) {
	files, err := sessionFiles(a.project(dir))
	if err != nil {
		return nil, 0, err
	}
	if len(files) == 0 {
		return nil, 0, fmt.Errorf("%w: none was started in %s yet", ErrNoSession, dir)
	}
	slices.SortFunc(files, func(x, y sessionFile) int { return byTime(y, x) })
	var first error
	for i, f := range files {
		s, err := openStore(f.path)
		if !errors.Is(err, statefile.ErrLocked) {
			return s, i, err
		}
		first = cmp.Or(first, err)
	}
	return nil, len(files), first
}

// Open opens a session by its id or a unique prefix of it. It fails if another process
// has the session open.
func (a *Archive) Open(id string) (*Store, error) {
	path, err := a.find(id)
	if errors.Is(err, ErrNoSession) && isID(id) {
		if s, failed := a.openBegun(id); s != nil || failed != nil {
			return s, failed
		}
	}
	if err != nil {
		return nil, err
	}
	return openStore(path)
}

// Read returns the content of a session without opening it; it may be in use.
func (a *Archive) Read(id string) (Info, Conversation, error) {
	path, err := a.find(id)
	if err != nil {
		return Info{}, Conversation{}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Info{}, Conversation{}, fmt.Errorf("read session: %w", err)
	}
	l, err := load(data)
	if err != nil {
		return Info{}, Conversation{}, err
	}
	l.info.ID = idOf(path)
	return l.info, l.conversation, nil
}

// List returns the sessions of dir, or of all folders if dir is empty, the one written
// last first. It reads only the beginnings and the ends of the files, except of a file
// that was not closed in order.
func (a *Archive) List(dir string) ([]Info, error) {
	projects := []string{a.project(dir)}
	if dir == "" {
		var err error
		if projects, err = a.projects(); err != nil {
			return nil, err
		}
	}
	var infos []Info
	for _, p := range projects {
		files, err := sessionFiles(p)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			infos = append(infos, f.describe())
		}
	}
	slices.SortFunc(infos, func(x, y Info) int { return y.Updated.Compare(x.Updated) })
	return infos, nil
}

// Remove deletes a session that no process has open.
func (a *Archive) Remove(id string) error {
	path, err := a.find(id)
	if err != nil {
		return err
	}
	lock, err := lockSession(path)
	if err != nil {
		return err
	}
	err = statefile.Remove(path)
	return errors.Join(err, lock.Remove())
}

// project returns the folder of the sessions of dir.
func (a *Archive) project(dir string) string {
	return filepath.Join(a.dir, statefile.FolderName(dir))
}

// isID reports whether id can be an id, or the beginning of one.
func isID(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// find returns the file of the session with the id, or with the only id that begins
// with it.
func (a *Archive) find(id string) (string, error) {
	if !isID(id) {
		return "", fmt.Errorf("%w: %q is not an id", ErrNoSession, id)
	}
	found, err := a.matching(id)
	if err != nil {
		return "", err
	}
	for _, path := range found {
		if idOf(path) == id {
			return path, nil
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%w: no id begins with %q; \"agent sessions list\" shows all", ErrNoSession, id)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%w: %d ids begin with %q; give more of it", ErrNoSession, len(found), id)
}

func (a *Archive) matching(prefix string) ([]string, error) {
	projects, err := a.projects()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, p := range projects {
		files, err := sessionFiles(p)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if strings.HasPrefix(idOf(f.path), prefix) {
				found = append(found, f.path)
			}
		}
	}
	return found, nil
}

func (a *Archive) projects() ([]string, error) {
	entries, err := os.ReadDir(a.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(a.dir, e.Name()))
		}
	}
	return dirs, nil
}

// sessionFile is a session's file as its folder lists it.
type sessionFile struct {
	path    string
	updated time.Time
	size    int64
}

func byTime(x, y sessionFile) int {
	return cmp.Or(x.updated.Compare(y.updated), strings.Compare(x.path, y.path))
}

func sessionFiles(project string) ([]sessionFile, error) {
	entries, err := os.ReadDir(project)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var files []sessionFile
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(e.Name()) != fileExt {
			continue // removed in the meantime, or not a session
		}
		files = append(files, sessionFile{filepath.Join(project, e.Name()), info.ModTime(), info.Size()})
	}
	return files, nil
}

// describe reads the session's description. Unknown fields stay empty.
func (f sessionFile) describe() Info {
	info := Info{ID: idOf(f.path)}
	if data, err := readEnds(f.path, f.size); err == nil {
		stated := false
		learn := func(body []byte) { stated = info.apply(body) || stated }
		scanFrames(data[0], learn)
		stated = false
		if scanFrames(data[1], learn); !stated && f.size > headSize+tailSize {
			// The session was not closed in order, and much follows its last turn.
			if all, err := os.ReadFile(f.path); err == nil {
				scanFrames(all, learn)
			}
		}
	}
	info.ID, info.Updated, info.Size, info.Open = idOf(f.path), f.updated, f.size, statefile.Held(lockPath(f.path))
	return info
}

// apply copies the part of the description that the record holds, and reports whether
// the record is the session's state.
func (i *Info) apply(body []byte) (state bool) {
	if !describesSession(body) {
		return false
	}
	r, err := decodeRecord(body)
	switch {
	case err != nil:
	case r.Meta != nil:
		i.ID, i.Dir, i.Model, i.Created, i.From = r.Meta.ID, r.Meta.Dir, r.Meta.Model, r.Meta.Created, r.Meta.From
	case r.Kind == kindTitle:
		i.Title = r.Title
	case r.State != nil:
		i.Title, i.Branch, i.Prompts = cmp.Or(r.State.Title, i.Title), r.State.Branch, r.State.Prompts
		return true
	}
	return false
}

// describesSession reports whether a record describes the session, by its beginning:
// most records are messages, and long.
func describesSession(body []byte) bool {
	for _, k := range []kind{kindMeta, kindTitle, kindState} {
		if bytes.HasPrefix(body, []byte(`{"kind":"`+string(k)+`"`)) {
			return true
		}
	}
	return false
}

// readEnds returns the beginning and the end of a file.
func readEnds(path string, size int64) (ends [2][]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return ends, err
	}
	ends[0], err = io.ReadAll(io.LimitReader(f, headSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return ends, err
	}
	ends[1], err = readEnd(path, size, tailSize)
	return ends, err
}

// readEnd returns the last n bytes of a file, or all of a shorter one.
func readEnd(path string, size, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	from := max(size-n, 0)
	data, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
	return data, errors.Join(err, f.Close())
}

func idOf(path string) string     { return strings.TrimSuffix(filepath.Base(path), fileExt) }
func lockPath(path string) string { return strings.TrimSuffix(path, fileExt) + lockExt }
