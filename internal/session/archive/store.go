package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/llm"

	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Store is one session on disk, open for appending by one process. Appending
// costs the same however long the session is. A record that could not be
// written (a full disk) is kept and written before the next one, so a session
// has no holes.
type Store struct {
	path         string
	mu           sync.Mutex // guards info while it is changed, and while others read it
	info         Info
	conversation Conversation // as it was opened
	out          output
	said         State // as it was appended last

	prompted string // the title that the prompts give, which the user may have changed
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

// Info describes the session. Like ID it may be called from any goroutine.
func (s *Store) Info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

// change changes what describes the session.
func (s *Store) change(f func(*Info)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.info)
}

// Conversation returns what the session held when it was opened.
func (s *Store) Conversation() Conversation { return s.conversation }

// Append adds entries, each as a record, in one write. When it returns nil
// they survive the end of the process; after Sync, that of the machine.
func (s *Store) Append(entries ...history.Entry) error {
	recs := make([]record, 0, len(entries)+2)
	for _, e := range entries {
		if title := prompted(s.prompted, e); title != s.prompted && s.info.Title == s.prompted {
			s.prompted = title
			s.change(func(i *Info) { i.Title = title })
			recs = append(recs, record{Kind: kindTitle, Title: title})
		}
		recs = append(recs, recordOf(e))
	}
	return s.append(recs...)
}

// AppendUsage adds what one request has used.
func (s *Store) AppendUsage(u llm.Usage) error {
	return s.append(record{Kind: kindUsage, Usage: &u})
}

// Rename gives the session the user's own title.
func (s *Store) Rename(title string) error {
	s.prompted = ""
	s.change(func(i *Info) { i.Title = titleOf(title) })
	return s.append(record{Kind: kindTitle, Title: s.info.Title})
}

// State appends what is known of the session at the end of a turn, if that has
// changed; its title is the store's own.
func (s *Store) State(st State) error {
	if st.Title = s.info.Title; st == s.said || s.out.file == nil && len(s.out.pending) == 0 {
		return nil
	}
	s.said = st
	s.change(func(i *Info) { i.Branch, i.Prompts = st.Branch, st.Prompts })
	return s.append(record{Kind: kindState, State: &st})
}

// Sync makes what was appended durable.
func (s *Store) Sync() error {
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

// unsavedError says that not all of a session is in its file.
type unsavedError struct{ err error }

func (e *unsavedError) Error() string {
	return "what was said last is not on disk: " + Why(e.err)
}

func (e *unsavedError) Unwrap() error { return e.err }

// Why says, for people, why a session could not be written: what the system says of
// it, without the names of our own files.
func Why(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no.Error()
	}
	return err.Error()
}

// Close ends the use of the session by this process.
func (s *Store) Close() error {
	if s.out.file == nil {
		return nil
	}
	err := errors.Join(s.Sync(), s.out.file.Close(), s.out.lock.Release())
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

// create makes the file of a new session, with the records that describe it
// before those that are pending.
func (s *Store) create() error {
	if s.out.file != nil {
		return nil
	}
	head, err := appendRecord(nil, record{Kind: kindMeta, Meta: &meta{
		Version: version, ID: s.info.ID, From: s.info.From, Dir: s.info.Dir, Model: s.info.Model, Created: s.info.Created,
	}})
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
	return nil
}

// flush writes what is pending. After a failure the file is cut back to its
// last intact record at once or, if that fails too, before the next write.
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

// openStore opens the session's file, cuts a torn end off and reads it all.
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
	data, err := readAll(s.out.file)
	if err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	l, err := load(data)
	if err != nil {
		return err
	}
	s.info, s.conversation, s.prompted = l.info, l.conversation, l.prompted()
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

func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	return data, nil
}

// loaded is a session's file, decoded.
type loaded struct {
	info         Info
	conversation Conversation
	scan         scanned
}

func load(data []byte) (loaded, error) {
	var l loaded
	var newer int
	unreadable := 0
	l.scan = scanFrames(data, func(body []byte) {
		r, err := decodeRecord(body)
		e, said := r.entry()
		switch {
		case err != nil:
			unreadable++
		case said:
			l.conversation.Entries = append(l.conversation.Entries, e)
			if e.Item == nil && e.Act == nil {
				l.conversation.Context = 0
			}
		case r.Usage != nil:
			l.conversation.Usage = l.conversation.Usage.Add(*r.Usage)
			l.conversation.Context = r.Usage.Input + r.Usage.Output
		case r.Meta != nil && r.Meta.Version > version:
			newer = r.Meta.Version
		default:
			l.info.learn(body)
		}
	})
	if newer > 0 {
		return l, fmt.Errorf("the session has format %d; this program knows %d: use the newer one", newer, version)
	}
	l.info.Size = int64(len(data))
	l.conversation.Notes = damage(l.scan, unreadable)
	return l, nil
}

// prompted returns the title that the prompts give.
func (l loaded) prompted() (title string) {
	for _, e := range l.conversation.Entries {
		title = prompted(title, e)
	}
	return title
}

func damage(s scanned, unreadable int) []string {
	var notes []string
	if n := s.Bad + unreadable; n > 0 {
		notes = append(notes, fmt.Sprintf("The session's file is damaged in %d place(s); what could be read was kept.", n))
	}
	if s.Torn > 0 {
		notes = append(notes, fmt.Sprintf("The session's last record was not written whole; its %d bytes were left out.", s.Torn))
	}
	return notes
}

// Who lists the sessions looks at each lock for a moment: a lock that is not there
// after so many tries was not one of these.
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
		return nil, fmt.Errorf("session %s is open in another process (%w): end that one first, or begin a new session", idOf(path), err)
	}
	if err != nil {
		return nil, fmt.Errorf("lock session: %w", err)
	}
	return lock, nil
}

// telling is the length from which a title says what a session is about.
const telling = 20

// prompted returns a title with the prompt in e: until it tells enough, each one goes
// into it. "go" and "yes" are the first words of too many sessions.
func prompted(title string, e history.Entry) string {
	if e.Item == nil || e.Item.Message.Role != llm.User || utf8.RuneCountInString(title) >= telling {
		return title
	}
	said := titleOf(e.Item.Message.UserText())
	if title == "" || said == "" {
		return orElse(title, said)
	}
	return titleOf(title + " · " + said)
}

// titleOf returns the first 200 characters of a prompt on one line.
func titleOf(prompt string) string { return Clip(prompt, 200) }

// Clip returns s on one line, cut to n characters.
func Clip(s string, n int) string {
	s = strings.TrimSpace(s)
	s = strings.ToValidUTF8(s[:min(len(s), (n+2)*utf8.UTFMax)], "")
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
