package session

import (
	"errors"
	"io"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Info describes a kept session.
type Info struct {
	ID      string
	Dir     string // the folder that it worked in
	Model   string // provider/name at its start
	Title   string // the first prompt, one line, 200 characters at most
	Created time.Time
	Updated time.Time
	Size    int64 // bytes on disk
}

// ErrNoSession is returned where there is no session to open.
var ErrNoSession = errors.New("no such session")

// Archive is the folder with the sessions of all projects.
type Archive struct{ dir string }

// NewArchive returns the archive in home/sessions. It touches no file.
func NewArchive(home string) *Archive { return &Archive{} }

// Create returns the store of a new session that works in dir (absolute) with
// the model named. Its file is made by the first record.
func (a *Archive) Create(dir, model string) *Store { return nil }

// Latest opens the session of dir that was written last, or returns ErrNoSession.
func (a *Archive) Latest(dir string) (*Store, error) { return nil, errors.ErrUnsupported }

// Open opens a session by its id or by a beginning of it that no other has. It
// fails if another process has the session open.
func (a *Archive) Open(id string) (*Store, error) { return nil, errors.ErrUnsupported }

// Read returns what a session holds without opening it; it may be in use.
func (a *Archive) Read(id string) (Info, []llm.Message, error) {
	return Info{}, nil, errors.ErrUnsupported
}

// List returns the sessions of dir, or of all folders if dir is empty, the one
// written last first.
func (a *Archive) List(dir string) ([]Info, error) { return nil, errors.ErrUnsupported }

// Remove deletes a session that no process has open.
func (a *Archive) Remove(id string) error { return errors.ErrUnsupported }

// Store is one session on disk, open for appending.
type Store struct{}

// ID returns the session's id.
func (s *Store) ID() string { return "" }

// Info describes the session.
func (s *Store) Info() Info { return Info{} }

// Close ends the use of the session by this process.
func (s *Store) Close() error { return nil }

// Export writes a conversation as Markdown.
func Export(w io.Writer, info Info, messages []llm.Message) error { return errors.ErrUnsupported }
