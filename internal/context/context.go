// Package projectctx writes the system prompt: what the model is told beside
// the conversation. It guarantees that the prompt is the same, byte for byte,
// while nothing that it tells of has changed, that it reads no file outside the
// project's own folders, and that it runs no program.
package projectctx

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
)

// EditorState tells what a connected editor shows; the zero State means that
// there is none.
type EditorState interface {
	State(ctx context.Context) editor.State
}

// editorWait bounds how long a prompt waits for the editor.
const editorWait = 300 * time.Millisecond

// Options says what the prompt tells of.
type Options struct {
	Dir    string           // the working directory, absolute, symlinks resolved
	Roots  []string         // all folders that may be changed; Dir may be among them
	Editor EditorState      // may be nil
	Apart  bool             // the editor's block is not part of System
	Shell  string           // what commands are run with, for example "bash"
	Now    func() time.Time // nil means time.Now
}

// Builder builds the prompt. It is safe for concurrent use.
type Builder struct {
	opt Options

	mu   sync.Mutex // guards what follows
	seen stamp
	base string // the prompt without the editor's block
	proj project
}

// project is what was read from disk.
type project struct {
	instructions []Instruction
	text         string // of the instructions, as the prompt has it
	branch       string
}

// New returns a Builder. It reads nothing yet.
func New(opt Options) *Builder {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Builder{opt: opt}
}

// System returns the prompt. It looks into the files again only if their times
// or sizes have changed.
func (b *Builder) System(ctx context.Context) string {
	base := b.refresh()
	if b.opt.Apart {
		return base
	}
	block := b.Editor(ctx)
	if block == "" {
		return base
	}
	return base + "\n" + block
}

// Editor returns the block that tells what the editor shows, of 800 characters at
// most; it is empty if there is nothing to tell. It waits for 300 ms at most.
func (b *Builder) Editor(ctx context.Context) string {
	if b.opt.Editor == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, editorWait)
	defer cancel()
	return editorBlock(b.opt.Editor.State(ctx), b.opt.Dir)
}

// Parts are the parts of the prompt, for those who want to know what fills it.
type Parts struct{ Rules, Instructions, Editor string }

// Parts returns the parts of which System is made.
func (b *Builder) Parts(ctx context.Context) Parts {
	base := b.refresh()
	b.mu.Lock()
	instructions := b.proj.text
	b.mu.Unlock()
	return Parts{
		Rules: strings.TrimSuffix(base, instructions), Instructions: instructions, Editor: b.Editor(ctx),
	}
}

// Instructions lists the instruction files, the outermost first.
func (b *Builder) Instructions() []Instruction {
	b.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proj.instructions
}

// Branch returns the checked-out branch, the first digits of the commit if
// there is none, or "" outside of a repository.
func (b *Builder) Branch() string {
	b.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proj.branch
}

// refresh brings the builder up to date and returns the prompt without the
// editor's block.
func (b *Builder) refresh() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	place := findPlace(b.opt.Dir)
	now := place.stamp(b.opt.Now().Format(time.DateOnly))
	if b.base == "" || now != b.seen {
		b.proj = place.read()
		b.base = b.write(now.day)
		b.seen = now
	}
	return b.base
}

// write puts the prompt together, what changes least first: a provider's cache
// holds what two requests begin with.
func (b *Builder) write(day string) string {
	var w strings.Builder
	w.WriteString(rules)
	w.WriteString("\nEnvironment:\n")
	w.WriteString("- System: " + runtime.GOOS + "/" + runtime.GOARCH + "\n")
	if b.opt.Shell != "" {
		w.WriteString("- Shell: " + oneLine(b.opt.Shell) + "\n")
	}
	w.WriteString("- Working directory: " + oneLine(b.opt.Dir) + "\n")
	for _, root := range b.opt.Roots {
		if root != b.opt.Dir {
			w.WriteString("- Also open: " + oneLine(root) + "\n")
		}
	}
	w.WriteString("- Date: " + day + "\n")
	if b.proj.branch != "" {
		w.WriteString("- Git branch: " + b.proj.branch + "\n")
	}
	w.WriteString(b.proj.text)
	return w.String()
}
