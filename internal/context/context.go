// Package projectctx writes the system prompt: what the model is told beside
// the conversation. It guarantees that the prompt is the same, byte for byte,
// while nothing that it tells of has changed, that it reads no file outside the
// project, and that it runs no program.
package projectctx

import (
	"context"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
)

// EditorState tells what a connected editor shows; the zero State means that
// there is none.
type EditorState interface {
	State(ctx context.Context) editor.State
}

// Options says what the prompt tells of.
type Options struct {
	Dir    string   // the working directory, absolute, symlinks resolved
	Roots  []string // all folders that may be changed; Dir may be among them
	Editor EditorState
	Shell  string // that commands are run with, as the model should know it
	Date   func() time.Time
}

// Instruction is a file of instructions that is part of the prompt.
type Instruction struct {
	Path      string // absolute
	Name      string // relative to the project's root
	Size      int64  // bytes in the file
	Used      int    // bytes in the prompt
	Hidden    int    // characters in it that a reader cannot see
	Problem   string // why it is not in the prompt, or empty
	Truncated bool
}

// Builder builds the prompt. It is safe for concurrent use.
type Builder struct{}

// New returns a Builder. It reads nothing yet.
func New(opt Options) *Builder { return &Builder{} }

// System returns the prompt. It looks at the files again only if their times
// have changed.
func (b *Builder) System(ctx context.Context) string { return "" }

// Instructions lists the instruction files, the outermost first.
func (b *Builder) Instructions() []Instruction { return nil }

// Branch returns the checked-out branch, the first digits of the commit if
// there is none, or "" outside of a repository.
func (b *Builder) Branch() string { return "" }
