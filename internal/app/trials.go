package app

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/shellline"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/trial"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// trials runs commands in a copy of the folder. Whether the system can is found out with the first command.
type trials struct {
	opt  trial.Options
	once sync.Once
	made *trial.Trials
	why  string // the system has none; "" if it has

	mu        sync.Mutex // guards the rest
	line, dir string     // of the last command
	ran       int
	spared    int // runs after which nobody had to be asked
	asked     int // questions about commands to a person
}

// newTrials returns nil if the user wants no trials.
func (a *App) newTrials() *trials {
	if a.Config.Trial == "off" {
		return nil
	}
	return &trials{opt: trial.Options{Root: a.Root, State: trial.StateIn(a.Config.Home), Home: a.Config.Home, Jobs: a.jobs}}
}

// Missing implements tools.Trials.
func (t *trials) Missing(ctx context.Context) string {
	t.once.Do(func() {
		if t.why = trial.Probe(ctx, t.opt.State, t.opt.Jobs).Missing; t.why != "" {
			return
		}
		made, err := trial.New(t.opt)
		if err != nil {
			t.why = err.Error()
		}
		t.made = made
	})
	return t.why
}

// Run implements tools.Trials.
func (t *trials) Run(ctx context.Context, opts shell.Options, pending []workspace.Change) (*trial.Outcome, error) {
	out, err := t.made.Run(ctx, opts, pending)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line, t.dir = opts.Line, opts.Dir
	if err == nil && ctx.Err() == nil {
		if t.ran++; out.Withheld == "" && len(out.Changes) == 0 && out.Staged == "" {
			t.spared++
		}
	}
	return out, err
}

// room returns the room for a language server.
func (t *trials) room(ctx context.Context, cmd *exec.Cmd) (sandbox.Confiner, error) {
	if why := t.Missing(ctx); why != "" {
		return nil, errors.New("trial is required, but this system has none: " + why)
	}
	return t.made.Room(ctx, cmd)
}

// answered counts the answers of a person about commands.
func (t *trials) answered(req confirm.Request, v confirm.Verdict) {
	if _, ok := req.Subject.(*confirm.Command); t == nil || !ok || v.Rule || v.Unasked {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked++
}

// TrialsSpared describes how many questions trials have spared in this session; "" if no command has run in one.
func (a *App) TrialsSpared() string {
	if a.trials == nil {
		return ""
	}
	t := a.trials
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ran == 0 {
		return ""
	}
	return fmt.Sprintf("%s ran in a copy of the folder: %d of %s spared.", plural.Of(t.ran, "command"), t.spared, plural.Of(t.spared+t.asked, "question"))
}

// Tried returns the last command that ran in a copy, and its folder; ok is false without one.
func (a *App) Tried() (line, dir string, ok bool) {
	if a.trials == nil {
		return "", "", false
	}
	a.trials.mu.Lock()
	defer a.trials.mu.Unlock()
	return a.trials.line, a.trials.dir, a.trials.line != ""
}

// Here runs the last command of a trial in its folder, as if the user had typed it. No turn may be running.
func (a *App) Here(ctx context.Context, line, dir string) error {
	if dir != a.Root.Dir() {
		line = "cd " + shellline.Quote(dir) + " && {\n" + line + "\n}"
	}
	return a.Shell(ctx, line)
}

// close ends the trials.
func (t *trials) close() error {
	if t == nil || t.made == nil {
		return nil
	}
	return t.made.Close()
}
