package tools

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// Deps holds the dependencies of the tools.
type Deps struct {
	Root *workspace.Root
	Ask  Asker
	// Buffers, Reports and Writes belong to the connected editor; nil if the program
	// supports none.
	Buffers Buffers
	Reports Reports
	Writes  Writes
	Jobs    Commands
	// Effects records what commands change; nil records nothing.
	Effects *effects.Tracker
	// Pending gathers the changes that a person would be asked about, for one review (see
	// Set.Settle); with nil each is asked about at once.
	Pending *pending.Changes
	// Settled is called after a review has written pending changes, and may add to its
	// result; nil for nothing.
	Settled func(ctx context.Context, call Call, res *Result)
	Servers Servers // nil for none
	Pages   Pages
	Agents  SubAgents    // nil: no tool delegates
	Sees    func() bool  // reports whether the model takes images; nil if it never does
	Window  func() int64 // the model's context in tokens, zero if unknown; nil if never known
	// Background lists the background commands whose end is reported; nil for none.
	Background Background
	Env        []string // the whole environment of commands
	AskAll     bool     // ask about commands that only read too
	// Withholds reports whether a rule denies or asks about the text of a file that is
	// otherwise read without a question; nil if there are no such rules. name is relative to
	// the workspace or absolute.
	Withholds func(name, abs string) bool
	// Below returns the instructions for a file, at an absolute path, that the model has
	// just read; nil means none.
	Below func(ctx context.Context, path string) string
	// Check returns the check for changes that are about to be asked about; nil for none.
	Check func(...workspace.Change) *confirm.Check
	// Planning reports whether the permission mode is plan; nil if it never is.
	Planning func() bool
	// SpillDir returns the folder for output that is too long for the model. The
	// caller allows the model to read files there.
	SpillDir func() string
	// Sandbox returns how the next command is confined; nil confines commands to nothing.
	Sandbox func(ctx context.Context) Sandbox
	// Session returns the id of the current session, which groups changes for undo.
	Session func() string
	Home    string // the program's own folder, which is protected; may be empty
	// Ripgrep is the path of rg; empty means the one on PATH, if any.
	Ripgrep string

	diagnostics *diagnostics // set by NewSet
	system      string       // of runtime.GOOS; "" for this one
}

// Asker decides whether something may be done. In the program it is app.asker, which
// calls confirm.Controller.
type Asker interface {
	Ask(ctx context.Context, req confirm.Request) (confirm.Verdict, error)
}

// Commands runs command lines. shell.Jobs implements it.
type Commands interface {
	Run(ctx context.Context, opts shell.Options) (shell.Result, error)
	Start(opts shell.Options) (shell.Job, error)
	Kill(id string) (output string, err error)
}

// Background lists the commands in the background. shell.Jobs implements it.
type Background interface {
	List() []shell.Job
}

// Buffers gives access to the unsaved changes in the connected editor.
type Buffers interface {
	// Unsaved reports whether the editor holds changes of the file at the absolute path
	// that are not on disk, and returns the editor's name.
	Unsaved(ctx context.Context, path string) (name string, unsaved bool)
	Save(ctx context.Context, path string) error
}

// Writes watches the files that the tools have written.
type Writes interface {
	// Wrote records a write.
	Wrote(ctx context.Context, done editor.Write)
	// Lost explains why the file at the absolute path, which now holds text, may have
	// lost the last write; "" if nothing suggests that.
	Lost(path, text string) string
}
