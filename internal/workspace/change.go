package workspace

import (
	"crypto/sha256"
	"fmt"
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
	// StrayUTF8 is UTF-8 with other bytes in between, which are characters of their own.
	StrayUTF8 = text.StrayUTF8
)

// Binary marks a file that is not text. Nothing can be decoded from it.
const Binary Encoding = "binary"

// Format describes how a file stores its text. Every edit keeps it.
type Format = text.Format

// LineEnding returns the line ending of a text, as the Format of a file with that text has
// it.
func LineEnding(s string) string { return text.LineEnding(s) }

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
	// Raw is the content of a Binary file, which Text describes; else nil.
	Raw []byte
}

// Change is a proposed new content of one file: a plain value that can be shown, edited
// and journalled. Nothing is on disk before Commit.
type Change struct {
	File          // the file when the change was computed; Text is the text before
	After  string // the whole new text, in the same terms as File.Text
	Delete bool   // the file is to be removed (undo of a file that was created)
	// States are those of the path, if the change is of more than a text, which then describes it;
	// else nil.
	States *States
	// By is the origin of an undo of just this change; nil for that of all.
	By *Origin
	// Dirs lists folders to remove with a deleted file if they are empty by then:
	// absolute, outermost first.
	Dirs []string
	// To and ToName are like Path and Name, of the place that the file moves to; empty if it
	// stays.
	To, ToName string
	// RawAfter is the content after a change to or of a Binary file, which After describes;
	// else nil.
	RawAfter []byte
}

// Moves reports whether c moves the file.
func (c Change) Moves() bool { return c.To != "" }

// Paths returns the absolute paths that c changes: with a move, both.
func (c Change) Paths() []string {
	if c.Moves() {
		return []string{c.Path, c.To}
	}
	return []string{c.Path}
}

// Halves returns a move as a new file and a removal.
func (c Change) Halves() (made, gone Change) {
	made, gone = c, c
	made.File = File{Path: c.To, Name: c.ToName, Format: c.Format, Mode: c.Mode}
	made.To, made.ToName, gone.To, gone.ToName, gone.Delete = "", "", "", "", true
	return made, gone
}

// Removes reports whether nothing is at Path after c.
func (c Change) Removes() bool { return c.Delete || c.Moves() }

// Editable reports whether c has a new text that a reviewer may change.
func (c Change) Editable() bool {
	return !c.Delete && c.Raw == nil && c.RawAfter == nil && (c.States == nil || c.States.OfFile())
}

// Needless reports whether c leaves the file as it is.
func (c Change) Needless() bool {
	return c.States == nil && c.Exists && !c.Removes() && c.After == c.Text
}

// Label names the file for people, with the place that it moves to.
func (c Change) Label() string {
	if c.Moves() {
		return c.Name + " → " + c.ToName
	}
	return c.Name
}

// Content returns the bytes of the file after c, nil for no file.
func (c Change) Content() ([]byte, error) {
	switch {
	case c.Delete:
		return nil, nil
	case c.RawAfter != nil:
		return c.RawAfter, nil
	}
	return encodeLimited(c.After, c.Format)
}

// content returns the bytes of f.
func (f File) content() ([]byte, error) {
	if f.Raw != nil {
		return f.Raw, nil
	}
	return text.Encode(f.Text, f.Format)
}

// Describe replaces a content that is not text; nil means no content.
func Describe(content []byte) string {
	if content == nil {
		return ""
	}
	return fmt.Sprintf("binary, %d bytes, SHA-256 %x\n", len(content), sha256.Sum256(content))
}

// NewContent returns c with text as After. It normalizes nothing.
func NewContent(c Change, after string) Change {
	c.After = after
	if c.States == nil {
		return c
	}
	s := *c.States
	data, err := c.Content()
	if s.Content, s.After = data, StateOf(s.After.Mode, data); err != nil {
		s.After.Hash = new(Hash) // Commit refuses it
	}
	c.States = &s
	return c
}

// encodeLimited is text.Encode with the limit MaxFileSize.
func encodeLimited(content string, f Format) ([]byte, error) {
	data, err := text.Encode(content, f)
	if err == nil && len(data) > MaxFileSize {
		err = fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(data), MaxFileSize)
	}
	return data, err
}
