package cli

import (
	"os"
	"os/exec"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/repl/desktop"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// terminal describes the terminal to draw on; own are the user's keys.
func (o *opening) terminal(p Process, own keys.Map) repl.Terminal {
	look := o.Interface
	return repl.Terminal{
		In: p.Stdin, Out: p.Stdout, Env: os.Environ(), Theme: look.Theme, Diff: look.Diff, Status: look.Status, Keys: own, Vi: look.Vi,
		Still:  look.ReducedMotion || os.Getenv("REDUCE_MOTION") != "",
		Window: desktop.Options{Title: look.Title, Progress: look.Progress, Notify: look.Notify},
	}
}

// statusOf returns the content of the status line for a.
func statusOf(a *app.App) repl.Status {
	return repl.Status{
		Model: a.Info().Name, Effort: a.Effort(), Branch: a.Context.Branch(), Editor: a.Editor.Footer(), Shows: a.Editor.Reviewer.Shows(),
	}
}

// externalEditor opens texts in the user's own editor, without our keys in its
// environment.
func externalEditor(cfg config.Config) repl.External {
	return func(name, text string) (*exec.Cmd, func() (string, error), error) {
		return home.External(cfg.Home, cfg.Programs(), home.EditorCommand(cfg.Interface.Editor), home.Without(os.Environ(), cfg.SecretEnv()), name, text)
	}
}

// modes is the permission mode as the screen shows and changes it.
type modes struct{ app *app.App }

// Current returns the mode in force.
func (m modes) Current() string { return m.app.Policy.Mode().String() }

// Grants returns the number of permissions that the user gave for this session.
func (m modes) Grants() int { return len(m.app.Grants()) }

// Next switches to the next mode and returns it.
func (m modes) Next() string { return m.app.Policy.Cycle().String() }
