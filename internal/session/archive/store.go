package archive

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Store is a session on disk, open for appending by one process. Appending takes the
// same time for any length of the session. A record that could not be written (the disk
// is full) is written before the next one, so a session has no gaps. Records may be appended
// by several goroutines.
type Store struct {
	path         string
	writing      sync.Mutex // held while records are appended
	mu           sync.Mutex // guards writing info, and reading it from other goroutines
	info         Info
	conversation Conversation // when it was opened
	out          output
	latest       State // as appended last

	prompted string // the title made of the prompts, which the user may have changed
}

// output is the writing side of a Store.
type output struct {
	file    *os.File // nil before the first record
	lock    *statefile.Lock
	size    int64  // of the intact records
	dirty   bool   // there may be half a record after size
	pending []byte // records that are not in the file yet
	unsync  bool   // records are written and not synced
}

// ID returns the session's id.
func (s *Store) ID() string { return s.info.ID }

// Path returns the path of the session's file, which may not exist yet.
func (s *Store) Path() string { return s.path }

// Info describes the session. Like ID it may be called from any goroutine.
func (s *Store) Info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

// change updates the session's description.
func (s *Store) change(f func(*Info)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.info)
}

// Conversation returns the content of the session when it was opened.
func (s *Store) Conversation() Conversation { return s.conversation }

// Append appends entries, each as a record, in one write. After it returns nil they
// survive the end of the process; after Sync, that of the machine.
func (s *Store) Append(entries ...history.Entry) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	recs := make([]record, 0, len(entries)+2)
	for _, e := range entries {
		if title := promptTitle(s.prompted, e); title != s.prompted && s.info.Title == s.prompted {
			s.prompted = title
			s.change(func(i *Info) { i.Title = title })
			recs = append(recs, record{Kind: kindTitle, Title: title})
		}
		recs = append(recs, recordOf(e))
	}
	return s.append(recs...)
}

// AppendUsage appends the usage of a request. If beside is set, it was not one of the conversation:
// a sub-agent made it, or it was a side question.
func (s *Store) AppendUsage(u llm.Usage, beside bool) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if beside {
		return s.append(record{Kind: kindSpent, Spent: &u})
	}
	return s.append(record{Kind: kindUsage, Usage: &u})
}

// Rename sets the user's own title.
func (s *Store) Rename(title string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.prompted = ""
	s.change(func(i *Info) { i.Title = titleOf(title) })
	return s.append(record{Kind: kindTitle, Title: s.info.Title})
}

// State appends the session's state at the end of a turn if it has changed. The store
// sets the title.
func (s *Store) State(st State) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if st.Title = s.info.Title; st == s.latest || s.out.file == nil && len(s.out.pending) == 0 {
		return nil
	}
	s.latest = st
	s.change(func(i *Info) { i.Branch, i.Prompts = st.Branch, st.Prompts })
	return s.append(record{Kind: kindState, State: &st})
}

// Start appends a description of the session's beginning, which replaces an earlier one.
func (s *Store) Start(st Start) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.append(record{Kind: kindStart, Start: &st})
}

// Sync makes the appended records durable.
func (s *Store) Sync() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.sync()
}

func (s *Store) sync() error {
	if len(s.out.pending) > 0 {
		if err := s.append(); err != nil {
			return err
		}
	}
	if !s.out.unsync {
		return nil
	}
	if err := s.out.file.Sync(); err != nil {
		return &unsavedError{err}
	}
	s.out.unsync = false
	return nil
}

// unsavedError reports that a part of the session is not in its file.
type unsavedError struct{ err error }

func (e *unsavedError) Error() string {
	return "the latest messages are not saved: " + Reason(e.err)
}

func (e *unsavedError) Unwrap() error { return e.err }

// Reason explains to people why a session could not be written: the system's error
// without the names of our own files.
func Reason(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no.Error()
	}
	return err.Error()
}

// Close closes the session in this process.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.out.file == nil {
		return nil
	}
	err := errors.Join(s.sync(), s.out.file.Close(), s.out.lock.Release())
	s.out = output{}
	return err
}

func (s *Store) append(recs ...record) error {
	for _, r := range recs {
		var err error
		if s.out.pending, err = appendRecord(s.out.pending, r); err != nil {
			return err
		}
	}
	err := s.create()
	if err == nil {
		err = s.out.flush()
	}
	if err != nil {
		return &unsavedError{err}
	}
	return nil
}

// create creates the file of a new session, with the records that describe it before
// the pending ones.
func (s *Store) create() error {
	if s.out.file != nil {
		return nil
	}
	head, err := appendRecord(nil, record{Kind: kindMeta, Meta: s.meta()})
	if err != nil {
		return err
	}
	if err := statefile.Mkdir(filepath.Dir(s.path)); err != nil {
		return err
	}
	lock, err := lockSession(s.path)
	if err != nil {
		return err
	}
	file, err := statefile.OpenAppend(s.path)
	if err != nil {
		return errors.Join(err, lock.Release())
	}
	s.out.file, s.out.lock = file, lock
	s.out.pending = append(head, s.out.pending...)
	return s.hasBegun()
}

// meta returns the first record.
func (s *Store) meta() *meta {
	return &meta{Version: version, ID: s.info.ID, From: s.info.From, Dir: s.info.Dir, Model: s.info.Model, Created: s.info.Created}
}

// flush writes the pending records. After a failure it cuts the file back to its last
// intact record, at once or, if that fails too, before the next write.
func (o *output) flush() error {
	if err := o.clean(); err != nil {
		return err
	}
	if len(o.pending) == 0 {
		return nil
	}
	n, err := o.file.Write(o.pending)
	if err != nil {
		o.dirty = n > 0
		return errors.Join(err, o.clean())
	}
	o.size += int64(n)
	o.unsync = true
	o.pending = o.pending[:0]
	if cap(o.pending) > 1<<20 {
		o.pending = nil
	}
	return nil
}

func (o *output) clean() error {
	if !o.dirty {
		return nil
	}
	if err := statefile.Truncate(o.file.Name(), o.size); err != nil {
		return err
	}
	o.dirty = false
	return nil
}

// openStore opens the session's file, cuts off a torn end and reads the rest.
func openStore(path string) (*Store, error) {
	lock, err := lockSession(path)
	if err != nil {
		return nil, err
	}
	file, err := statefile.OpenAppend(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open session: %w", err), lock.Release())
	}
	s := &Store{path: path, out: output{file: file, lock: lock}}
	if err := s.load(); err != nil {
		return nil, errors.Join(err, file.Close(), lock.Release())
	}
	return s, nil
}

func (s *Store) load() error {
	l, err := loadFile(s.out.file, s.path)
	if err != nil {
		return err
	}
	s.info, s.conversation, s.prompted = l.info, l.conversation, l.promptTitle()
	s.info.ID = idOf(s.path)
	s.out.size, s.out.dirty = l.scan.Good, l.scan.Torn > 0
	if err := s.out.clean(); err != nil {
		return fmt.Errorf("cut the damaged end off the session: %w", err)
	}
	if !l.scan.Ended {
		s.out.pending = append(s.out.pending, '\n')
	}
	return nil
}

// loaded is the decoded file of a session.
type loaded struct {
	info         Info
	conversation Conversation
	scan         scanned
	newer        int // the version of its format, if that is too new
	unreadable   int // records
	stored       int // results that are not loaded, see resultsIn
}

// load decodes a whole file.
func load(data []byte) (loaded, error) {
	var l loaded
	l.scan = scanFrames(data, func(body []byte) { l.add(body, nil) })
	return l, l.finish(int64(len(data)))
}

// loadFile decodes the open file with a path, but for the results of calls before its last
// compaction. They are read when they are needed.
func loadFile(f *os.File, path string) (l loaded, err error) {
	info, err := f.Stat()
	if err != nil {
		return l, fmt.Errorf("open session: %w", err)
	}
	compacted, err := lastCompaction(f, info.Size(), readAtOnce)
	if err != nil {
		return l, fmt.Errorf("open session: %w", err)
	}
	l.scan, err = scanFile(f, info.Size(), readAtOnce, func(body []byte, at int64) {
		if at < compacted {
			if head, ok := withoutParts(body); ok {
				l.add(head, storedIn(path, at, body))
				return
			}
		}
		l.add(body, nil)
	})
	if err != nil {
		return l, fmt.Errorf("open session: %w", err)
	}
	return l, l.finish(info.Size())
}

// add decodes a record; stored, if not nil, has the parts that are left out of it.
func (l *loaded) add(body []byte, stored *history.Stored) {
	r, err := decodeRecord(body)
	e, said := r.entry()
	switch {
	case err != nil:
		l.unreadable++
	case said:
		if stored != nil && e.Item != nil {
			e.Item.Task, e.Item.Stored = nil, stored
			l.stored++
		}
		l.conversation.Entries = append(l.conversation.Entries, e)
		if e.Item == nil && e.Act == nil {
			l.conversation.Context = 0
		}
	case r.Usage != nil:
		l.conversation.Usage = l.conversation.Usage.Add(*r.Usage)
		l.conversation.Context = r.Usage.Input + r.Usage.Output
	case r.Spent != nil:
		l.conversation.Usage = l.conversation.Usage.Add(*r.Spent)
	case r.Meta != nil && r.Meta.Version > version:
		l.newer = r.Meta.Version
	case r.Start != nil:
		l.conversation.Start = *r.Start
	case r.State != nil:
		l.conversation.setEffort(r.State.Model, r.State.Effort)
		l.info.apply(body)
	default:
		l.info.apply(body)
	}
}

// finish describes a file of the given size once all its records are added.
func (l *loaded) finish(size int64) error {
	if l.newer > 0 {
		return fmt.Errorf("the session has format %d, but this version of agent knows only %d: use a newer version", l.newer, version)
	}
	l.info.Size = size
	l.conversation.Notes = damage(l.scan, l.unreadable)
	return nil
}

// setEffort records the user's choice for a model, if there is one.
func (c *Conversation) setEffort(model, effort string) {
	if effort == "" {
		delete(c.Efforts, model)
		return
	}
	if c.Efforts == nil {
		c.Efforts = map[string]string{}
	}
	c.Efforts[model] = effort
}

// promptTitle returns the title made of the prompts.
func (l loaded) promptTitle() (title string) {
	for _, e := range l.conversation.Entries {
		title = promptTitle(title, e)
	}
	return title
}

func damage(s scanned, unreadable int) []string {
	var notes []string
	if n := s.Bad + unreadable; n > 0 {
		notes = append(notes, fmt.Sprintf("The session's file is damaged in %d place(s); everything readable was kept.", n))
	}
	if s.Torn > 0 {
		notes = append(notes, fmt.Sprintf("The session's last record is incomplete; its %d bytes were dropped.", s.Torn))
	}
	return notes
}

// Listing the sessions holds each lock for a moment. A lock that is still taken after
// this many tries belongs to a process that has the session open.
const (
	glances = 3
	glance  = 5 * time.Millisecond
)

func lockSession(path string) (*statefile.Lock, error) {
	lock, err := statefile.TryAcquire(lockPath(path))
	for i := 0; i < glances && errors.Is(err, statefile.ErrLocked); i++ {
		<-time.After(glance)
		lock, err = statefile.TryAcquire(lockPath(path))
	}
	if errors.Is(err, statefile.ErrLocked) {
		return nil, fmt.Errorf("session %s is open in another process (%w): close it there, or start a new session", idOf(path), err)
	}
	if err != nil {
		return nil, fmt.Errorf("lock session: %w", err)
	}
	return lock, nil
}

// enoughTitle is the length from which a title describes the session, in characters.
const enoughTitle = 20

// promptTitle returns the title with the prompt in e added, unless the title is long
// enough: "go" and "yes" are the first words of too many sessions.
func promptTitle(title string, e history.Entry) string {
	if e.Item == nil || e.Item.Message.Role != llm.User || utf8.RuneCountInString(title) >= enoughTitle {
		return title
	}
	said := titleOf(e.Item.Message.UserText())
	if title == "" || said == "" {
		return cmp.Or(title, said)
	}
	return titleOf(title + " · " + said)
}

// titleOf returns the first 200 columns of a prompt on one line.
func titleOf(prompt string) string { return Clip(prompt, 200) }

// Clip returns s on one line of at most n columns. It cuts before a word, unless that is long.
func Clip(s string, n int) string {
	s = strings.TrimSpace(s)
	all := strings.ToValidUTF8(s[:min(len(s), (n+2)*utf8.UTFMax)], "")
	all = clip.Line(all)
	if len(s) <= (n+2)*utf8.UTFMax && cells.Width(all) <= n {
		return all
	}
	cut := cells.Truncate(all, n-1, "")
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 && !strings.HasPrefix(all[len(cut):], " ") {
		cut = cut[:i]
	}
	return strings.TrimSpace(cut) + "…"
}
