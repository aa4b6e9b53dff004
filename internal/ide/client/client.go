// Package client speaks with one connected editor in typed calls. It guarantees
// that every shape of answer known from editors in use is read, that nothing but
// a person's clear verdict comes out as one (all else is undecided), that text
// comes back exactly as the person left it, and that no value of an editor is
// trusted for more than it is: paths are absolute, lines are 1-based, sizes are
// bounded.
package client

import (
	"context"
	"errors"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
)

// What a caller branches on.
var (
	// ErrTooLarge says that the message is larger than this editor takes; nothing
	// was sent.
	ErrTooLarge = errors.New("too large for the editor")
	// ErrUnsupported says that the editor has no such tool.
	ErrUnsupported = errors.New("the editor has no such tool")
)

// ToolError is an editor's refusal.
type ToolError struct {
	Code    string // "DIRTY_DOCUMENT", "BUSY", …; empty if the editor gave none
	RPC     int    // JSON-RPC code, 0 if the refusal was a result
	Message string // the editor's words; not safe to show before it is sanitised
}

func (e *ToolError) Error() string { return e.Message }

// Codes of ToolError that a caller branches on.
const (
	CodeDirty = "DIRTY_DOCUMENT"
	CodeBusy  = "BUSY"
)

// Options are how to connect.
type Options struct {
	Version string // ours
	Session string // the session's id, told to our own extension
	Dir     string // working directory, likewise
	Events  Events
	Timing  Timing
}

// Timing replaces the default deadlines; zero fields keep them.
type Timing = wire.Timing

// Events are given what the editor tells by itself, in order, from the goroutine
// that reads: they must not block. A nil one is left out.
type Events struct {
	Selection   func(Selection)
	Mention     func(Mention)
	Draft       func(DraftChange)
	Diagnostics func(paths []string) // empty: all may have changed
	Tools       func()               // the list of tools changed
}

// Selection is what is selected in the editor. The zero value says that nothing
// is.
type Selection struct {
	Path     string // absolute
	Text     string // empty where only the cursor is placed
	from, to place
	oneBased bool
}

type place struct{ line, char int }

// Mention asks to mention a file in the prompt. Lines are 1-based and inclusive,
// 0 for the whole file.
type Mention struct {
	Path               string // absolute; a folder ends in a slash
	StartLine, EndLine int
}

// DraftChange says that the text in an open diff was changed by hand.
type DraftChange struct {
	DiffID         string
	Edited         bool
	Added, Removed int // lines, against the proposal
}

// Info is what is known about a connected editor.
type Info struct {
	Name    string // of the editor, from its lock file
	Server  string // of its plugin
	Version string // of its plugin
	Ours    bool   // it is our own extension: drafts, details, status
	Tools   []string
	// MaxMessage is the size in bytes of the largest message it takes.
	MaxMessage int
}

// Client is a connection to one editor. Its methods and those of its parts may
// be called concurrently.
type Client struct {
	Diffs     Diffs
	Documents Documents
}

// Connect opens a connection to the editor of a lock file.
func Connect(ctx context.Context, c lock.Candidate, o Options) (*Client, error) {
	return nil, ErrUnsupported
}

// Info returns what is known about the editor.
func (c *Client) Info() Info { return Info{} }

// SetStatus shows a state in our own extension's status bar ("idle", "working",
// "waiting"). Other editors have none: ErrUnsupported.
func (c *Client) SetStatus(ctx context.Context, state, text, tooltip string) error {
	return ErrUnsupported
}

// Probe returns nil if the editor answers at all before ctx ends. A socket may
// be open and yet belong to nobody.
func (c *Client) Probe(ctx context.Context) error { return nil }

// Done is closed when the connection has ended; Err says why.
func (c *Client) Done() <-chan struct{} { return nil }

// Err returns why the connection has ended, nil while it has not.
func (c *Client) Err() error { return nil }

// Close cancels what is pending and closes the connection.
func (c *Client) Close() { _ = c }

// Diffs are the reviews in the editor.
type Diffs struct{}

// DiffRequest asks for a review.
type DiffRequest struct {
	Path string // absolute, symlinks resolved; it need not exist
	Text string // the proposal, valid UTF-8, with the file's own line endings
	Tab  string // see TabName; unique among those open

	// For our own extension only.
	ID          string
	Description string
	BaseSHA256  string // hex, of the text that the proposal was made from
	OnClose     OnClose
	Batch       Batch
}

// Batch places a request among the calls of one answer; Total 0 is none.
type Batch struct {
	ID    string `json:"id"`
	Index int    `json:"index"`
	Total int    `json:"total"`
}

// OnClose says what closing the tab by hand means.
type OnClose string

// What closing the tab means.
const (
	CloseRejects OnClose = "reject"
	CloseKeeps   OnClose = "keep" // it is no answer
)

// Kind is the kind of an outcome. The zero value decides nothing.
type Kind int

// The outcomes of a review.
const (
	Undecided Kind = iota
	Rejected
	Accepted       // Text is to be written
	AlreadyWritten // the editor has written the proposal itself
)

// DiffOutcome is what a review came to.
type DiffOutcome struct {
	Kind Kind
	Text string // what was accepted, exactly; set for Accepted and AlreadyWritten
	// Edited says that Text is not the proposal.
	Edited   bool
	Reason   string // the editor's reason ("button", "timeout", …) or why undecided
	Feedback string // the reviewer's words
	Comments []Comment
}

// Comment is a remark on lines of the accepted or rejected text.
type Comment struct {
	Original           bool // on the old side
	StartLine, EndLine int  // 1-based, inclusive
	Quote, Text        string
}

// Open shows a diff and waits for the person: it has no deadline of its own.
// When ctx ends it returns ctx's error and forgets the request; the diff is
// still to be closed with Close.
func (d *Diffs) Open(ctx context.Context, r DiffRequest) (DiffOutcome, error) {
	return DiffOutcome{}, ErrUnsupported
}

// Close closes a diff. That there is none any more is no error.
func (d *Diffs) Close(ctx context.Context, tab string) error { return nil }

// CloseAll closes the diffs that were left over and returns how many were. Old
// plugins close the user's own diffs too: not to be called lightly.
func (d *Diffs) CloseAll(ctx context.Context) (int, error) { return 0, nil }

// Draft is the text in an open diff.
type Draft struct {
	Text   string
	Edited bool // it is not the proposal
}

// Resolve answers an open diff from outside and returns its draft. Only our own
// extension can: ErrUnsupported.
func (d *Diffs) Resolve(ctx context.Context, id string, accept bool) (Draft, error) {
	return Draft{}, ErrUnsupported
}

// TabName returns a name for a diff that no editor mistakes for a buffer of the
// user's: rel is the file's path for people, unique a few characters that no
// other open diff has.
func (c *Client) TabName(rel, unique string) string { return "" }

// Documents are the editor's files.
type Documents struct{}

// Open shows a file; lines are 1-based and inclusive, 0 for none.
func (d *Documents) Open(ctx context.Context, path string, startLine, endLine int) error { return nil }

// Diagnostics returns the findings on path, or on all files if it is empty.
// wait is how long the editor may wait for its language servers to settle. known
// is false where the editor cannot tell (the file is not shown, no quiet in
// time): then none is not the same as clean.
func (d *Documents) Diagnostics(ctx context.Context, path string, wait time.Duration) (found []editor.Diagnostic, known bool, err error) {
	return nil, false, ErrUnsupported
}

// CurrentSelection returns the selection in the active editor.
func (d *Documents) CurrentSelection(ctx context.Context) (Selection, error) {
	return Selection{}, ErrUnsupported
}

// LatestSelection returns the last selection, in whatever has the focus now.
func (d *Documents) LatestSelection(ctx context.Context) (Selection, error) {
	return Selection{}, ErrUnsupported
}

// Tabs returns the open files.
func (d *Documents) Tabs(ctx context.Context) ([]editor.Tab, error) { return nil, ErrUnsupported }

// Folders returns the workspace's folders.
func (d *Documents) Folders(ctx context.Context) ([]string, error) { return nil, ErrUnsupported }

// Buffer is what the editor holds of a file.
type Buffer struct {
	Open  bool
	Dirty bool // it has unsaved changes
	// Text and SHA256 (hex) are set by our own extension if asked for.
	Text   *string
	SHA256 string
}

// Buffer asks whether a file has unsaved changes in the editor.
func (d *Documents) Buffer(ctx context.Context, path string, withText bool) (Buffer, error) {
	return Buffer{}, ErrUnsupported
}

// Save saves a file in the editor.
func (d *Documents) Save(ctx context.Context, path string) error { return ErrUnsupported }

// Lines returns the 1-based, inclusive lines of the selection in content, the
// text of its file; ok is false if the editor's lines do not hold what it says is
// selected.
func (s Selection) Lines(content string) (start, end int, ok bool) { return 0, 0, false }

// ClaimedLines returns the lines as the editor gives them, 1-based and inclusive.
func (s Selection) ClaimedLines() (start, end int) { return 0, 0 }
