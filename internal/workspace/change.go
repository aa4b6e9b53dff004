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

// The encodings that are detected. Others come from a setting or an editor and
// carry the name that golang.org/x/text's htmlindex knows them by.
const (
	UTF8    = text.UTF8
	UTF16LE = text.UTF16LE
	UTF16BE = text.UTF16BE
	Latin1  = text.Latin1
)

// Format is how a file's text becomes bytes; it is kept by every edit.
type Format = text.Format

// File is a text file as it was read. The zero Hash with Exists false is a file
// that is not there yet.
type File struct {
	Path   string // absolute, symlinks resolved
	Name   string // relative to the root with forward slashes, for people and models
	Exists bool
	Text   string // decoded, without BOM, line endings as in the file
	Format Format
	Hash   Hash // of the bytes on disk
	Mode   fs.FileMode
	Size   int64
}

// Change is a proposed new content of one file: a plain value that can be
// shown, edited and journalled. It is not on disk before Commit.
type Change struct {
	File          // what was there when the change was computed
	After  string // the whole new text, in the same terms as File.Text
	Delete bool   // the file is to be removed (undo of a file that was created)
	// Dirs are folders that go with a deleted file if they are empty then:
	// absolute, outermost first.
	Dirs []string
}

// NewContent returns c with text in the place of After. It normalises nothing.
func NewContent(c Change, after string) Change {
	c.After = after
	return c
}
