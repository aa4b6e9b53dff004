package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
)

// Hash is the SHA-256 of a file's bytes.
type Hash [sha256.Size]byte

// MarshalText returns h in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads what MarshalText returned.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return errors.New("not a hash")
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Encoding names how a file's text is stored.
type Encoding string

// The encodings that are detected. Others come from a setting or an editor and
// carry the name that golang.org/x/text's htmlindex knows them by.
const (
	UTF8    Encoding = "utf-8"
	UTF16LE Encoding = "utf-16le"
	UTF16BE Encoding = "utf-16be"
	Latin1  Encoding = "iso-8859-1"
)

// Format is how a file's text becomes bytes; it is kept by every edit.
type Format struct {
	Encoding Encoding
	BOM      bool
	// EOL is the file's line ending: "\n" or "\r\n". In a file that mixes them
	// it is the more frequent one; lines that an edit leaves alone keep theirs.
	EOL string
}

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
}

// NewContent returns c with text in the place of After. It normalises nothing.
func NewContent(c Change, text string) Change {
	c.After = text
	return c
}
