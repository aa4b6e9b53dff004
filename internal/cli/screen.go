package cli

import (
	"os"

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
