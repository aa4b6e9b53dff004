package workspace

import (
	"context"
	"errors"
	"io/fs"
	"iter"
)

// MaxFileSize is the size in bytes of the largest file that Read, Propose and
// Commit take.
const MaxFileSize = 10 << 20

// Options says how a workspace is opened.
type Options struct {
	// Extra are further folders that may be read and written.
	Extra []string
	// Home is the program's own folder; the undo journal is kept under it. A
	// workspace without it can be read but not written.
	Home string
	// Fallback is the encoding of files that are not valid UTF-8 and have no
	// byte order mark; empty means Latin1.
	Fallback Encoding
	// Session, if set, limits undo to the changes of that session.
	Session string
}

// Origin says what a change was made for.
type Origin struct{ Session, Turn, Tool string }

// Root is an open workspace.
type Root struct{ dir string }

// Open opens the workspace at dir and cleans up after processes that died while
// they wrote to it.
func Open(dir string, opt Options) (*Root, error) { return nil, errors.ErrUnsupported }

// Close releases the workspace.
func (r *Root) Close() error { return nil }

// Dir is the absolute path of the main folder, symlinks resolved.
func (r *Root) Dir() string { return r.dir }

// Roots lists the folders of the workspace; the first is Dir.
func (r *Root) Roots() []string { return []string{r.dir} }

// Resolve follows path, relative to Dir or absolute, through all symlinks. The
// last components may be missing. name is relative to Dir with forward slashes;
// for a file in another folder it is the absolute path. For a path outside of
// every folder the error is ErrOutside, and abs is set all the same.
func (r *Root) Resolve(path string) (abs, name string, err error) {
	return "", "", errors.ErrUnsupported
}

// AllowRead lets the file abs outside the workspace be read from now on; for a
// folder, everything below it.
func (r *Root) AllowRead(abs string) {}

// Read returns a whole text file. Errors: fs.ErrNotExist, ErrOutside,
// ErrNotRegular, ErrTooLarge, ErrNotText.
func (r *Root) Read(path string) (File, error) { return File{}, errors.ErrUnsupported }

// FS returns the folder at path for walking and searching, read-only, and its
// name as in Resolve ("." for Dir). It cannot be left through symlinks.
func (r *Root) FS(path string) (fs.FS, string, error) { return nil, "", errors.ErrUnsupported }

// Open opens a regular file of any size for reading by lines. It does not block
// on pipes and devices: they are ErrNotRegular, as folders are.
func (r *Root) Open(path string) (*Stream, error) { return nil, errors.ErrUnsupported }

// Stream reads a file by lines. It keeps one buffer, whatever the file's size.
type Stream struct {
	Info   File // without Text and Hash; Format is judged from the file's head
	Binary bool // the head is not text
}

// Line is one line of a Stream.
type Line struct {
	Text   string // decoded, without line ending; cut at the limit
	Length int64  // in the file, in bytes, without line ending
}

// Lines yields the lines from the current position on. Text is cut after
// maxLine bytes. After maxBytes bytes of the file it ends with ErrTooLarge.
func (s *Stream) Lines(maxLine int, maxBytes int64) iter.Seq2[Line, error] {
	return func(func(Line, error) bool) {}
}

// Close closes the file.
func (s *Stream) Close() error { return nil }

// Propose computes a change of the file at path: edit is given the file and
// returns the whole new text. A missing file is given with Exists false, as
// UTF-8 with "\n" and mode 0644. A file that cannot be written (read-only, hard
// links, no text) is refused here already, with the reason. An error of edit is
// returned as it is.
func (r *Root) Propose(path string, edit func(File) (string, error)) (Change, error) {
	return Change{}, errors.ErrUnsupported
}

// NewContent returns c with text in the place of After. It normalises nothing.
func NewContent(c Change, text string) Change {
	c.After = text
	return c
}

// Commit writes c if the file still holds what c was computed from, and returns
// the file as written; else ErrStale. What the file held is in the undo journal
// first.
func (r *Root) Commit(ctx context.Context, c Change, by Origin) (File, error) {
	return File{}, errors.ErrUnsupported
}

// UndoScope says what to undo.
type UndoScope int

// The scopes.
const (
	LastChange UndoScope = iota // the last change that is not undone
	LastTurn                    // all changes of the turn of the last change
	LastUndo                    // the last undo: its files are as before it
)

// ErrNothingToUndo is returned by UndoPlan.
var ErrNothingToUndo = errors.New("nothing to undo")

// Plan is what an undo would do: a change for each file.
type Plan struct {
	Changes []Change
}

// UndoPlan returns what an undo would change. If a file is not what the journal
// says it was left as, the error is ErrStale.
func (r *Root) UndoPlan(ctx context.Context, scope UndoScope) (Plan, error) {
	return Plan{}, errors.ErrUnsupported
}

// Undo carries out p. It removes folders that the changes made, if empty.
func (r *Root) Undo(ctx context.Context, p Plan) error { return errors.ErrUnsupported }
