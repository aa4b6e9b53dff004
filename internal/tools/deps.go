package tools

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// Deps holds the dependencies of the tools, by their owners.
type Deps struct {
	change.Deps
	Reading
	Shell
	Reports Reports // the connected editor's; nil if the program supports none
	Servers Servers // nil for none
	// Languages answers questions about names in code; nil for nobody.
	Languages Languages
	Pages     Pages
	Agents    SubAgents // nil: no tool delegates
	// Mine opens the folder of the user's own instructions; nil for none. The caller closes it.
	Mine     func() (*workspace.Root, error)
	Planning func() bool // reports whether the permission mode is plan; nil if it never is
}

// Reading holds what belongs to the tools that read.
type Reading struct {
	Sees   func() bool  // reports whether the model takes images; nil if it never does
	Window func() int64 // the model's context in tokens, zero if unknown; nil if never known
	// Below returns the instructions for a file, at an absolute path, that the model has
	// just read; nil means none.
	Below func(ctx context.Context, path string) string
	// Ripgrep is the path of rg; empty means the one on PATH, if any.
	Ripgrep string
}

// Shell holds what belongs to commands.
type Shell struct {
	Jobs   Commands
	Trials Trials // nil: no command runs in a copy first
	// OnlyTrials means that no command runs outside of a copy, except those that only read.
	OnlyTrials bool
	// Holds means that a command which only adds to the index of a repository may wait for the next
	// question, because Set.Settle is called at the end of a turn.
	Holds bool
	// Background lists the background commands whose end is reported; nil for none.
	Background Background
	// Effects records what commands change; nil records nothing.
	Effects *effects.Tracker
	Env     []string // the whole environment of commands
	AskAll  bool     // ask about commands that only read too
	// SpillDir returns the folder for output that is too long for the model. The
	// caller allows the model to read files there.
	SpillDir func() string
	// Sandbox returns how the next command is confined; nil confines commands to nothing.
	Sandbox func(ctx context.Context) Sandbox

	shell *shell.Interpreter // of commands; nil for the one of this system
}

// Asker is change.Asker.
type Asker = change.Asker

// Review is the name under which changes that were gathered are asked about and written.
const Review = change.Review

// writer returns the writer of the tool with the given name.
func (d Deps) writer(name string) change.Writer { return change.Writer{Deps: d.Deps, Tool: name} }

// foreseen returns the question that the change of a file would ask; see change.Writer.Foresee.
func foreseen(w change.Writer, p change.Part, added string) []Foreseen {
	req, ok := w.Foresee(p, added)
	if !ok {
		return nil
	}
	return []Foreseen{{Request: req}}
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
