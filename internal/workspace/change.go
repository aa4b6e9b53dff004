package workspace

import (
	"io/fs"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// Hash is the SHA-256 of a file's bytes.
type Hash = journal.Hash

// Encoding names how a file's text is stored.
type Encoding = text.Encoding

// The encodings that are detected. Others come from a setting or an editor, under the
// names of golang.org/x/text's htmlindex.
const (
	UTF8    = text.UTF8
	UTF16LE = text.UTF16LE
	UTF16BE = text.UTF16BE
	Latin1  = text.Latin1
)

// Format describes how a file stores its text. Every edit keeps it.
type Format = text.Format

// File is a text file as it was read. If Exists is false there is no file yet, and Hash
// is zero.
type File struct {
	Path   string // absolute, symlinks resolved
	Name   string // relative to the root with forward slashes, for people and models
	Exists bool
	Text   string // decoded, without BOM, line endings as in the file
	Format Format
	Hash   Hash // of the bytes of Text
	Saved  Hash // of the bytes on disk, if Text has changes that the host has not saved; else zero
	Mode   fs.FileMode
	Size   int64
}

// Change is a proposed new content of one file: a plain value that can be shown, edited
// and journalled. Nothing is on disk before Commit.
type Change struct {
	File          // the file when the change was computed; Text is the text before
	After  string // the whole new text, in the same terms as File.Text
	Delete bool   // the file is to be removed (undo of a file that was created)
	// Dirs lists folders to remove with a deleted file if they are empty by then:
	// absolute, outermost first.
	Dirs []string
}

// NewContent returns c with text as After. It normalises nothing.
func NewContent(c Change, after string) Change {
	c.After = after
	return c
}
