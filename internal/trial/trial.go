// Package trial runs a command without any lasting effect, and reports the changes that it would make. It
// guarantees that the command writes no file of a person, reads no file with keys, reaches no
// network and no other program, and that a result which may differ from that of the command in
// the folder itself is withheld with the reason.
//
// The command runs in a room (see package room), in which an overlay is mounted over each folder
// of the workspace, at its own path: all writes go to another folder, from which the
// changes are read afterwards. Nothing is copied before. Files that git ignores are no changes; they
// stay in that other folder, so that the next build in a trial is as quick as outside.
package trial

import (
	"context"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Jobs runs command lines. shell.Jobs implements it.
type Jobs interface {
	Run(ctx context.Context, opts shell.Options) (shell.Result, error)
}

// Options configures Trials.
type Options struct {
	Root *workspace.Root
	// State is a folder of the program's own, created if missing. It holds what commands wrote.
	State string
	// Home is the program's own folder, which no command sees.
	Home string
	Jobs Jobs
}

// StateIn returns the place for Options.State in the program's own folder.
func StateIn(home string) string { return filepath.Join(home, "trials") }

// Outcome is the result of a command in a trial.
type Outcome struct {
	shell.Result
	// Changes are the files that it would change, as with the pending changes before it.
	Changes []workspace.Change
	// Withheld is the reason why this run says nothing about the command, as the predicate of a sentence about
	// it, such as "needs the network"; "" if it counts.
	Withheld string
	// Staged is a hash of the indexes of repositories that it changed; "" for none.
	Staged string
}

// ChangesRepository is why a run does not count that did more in a repository than refresh the times of files
// in its index, or change that: see Outcome.Staged.
const ChangesRepository = "changes the repository"

// withhold notes a reason unless there is one already.
func (o *Outcome) withhold(why string) {
	if o.Withheld == "" {
		o.Withheld = why
	}
}
