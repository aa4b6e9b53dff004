package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session/archive"
)

// openStore finds the session to continue, or makes a new one.
func openStore(cfg config.Config, f *flags, model string) (app.Place, error) {
	dir, err := workDir(f.dir)
	if err != nil {
		return app.Place{}, err
	}
	pl := app.Place{Dir: dir, Archive: archive.New(cfg.Home)}
	switch {
	case f.latest:
		var open int
		if pl.Store, open, err = pl.Archive.Latest(dir); err == nil && open > 0 {
			pl.Note = fmt.Sprintf("%s: this is the newest one that is free.", opened(open))
		}
		if errors.Is(err, archive.ErrNoSession) {
			err = fmt.Errorf("there is no session in %s to continue; agent starts one", dir)
		}
	case f.resume != "" && f.resume != pick:
		pl.Store, err = pl.Archive.Open(f.resume)
		if errors.Is(err, archive.ErrNoSession) {
			err = fmt.Errorf("there is no session %s; agent sessions list shows them", f.resume)
		}
	default:
		pl.Store = pl.Archive.Create(dir, model)
	}
	return pl, err
}

// offer says that the newest session of the folder was left in the middle of a turn;
// empty if it was not.
func offer(kept *archive.Archive, dir string) string {
	left := kept.Left(dir)
	if left == nil {
		return ""
	}
	what := "in the middle of a turn"
	if left.Call != nil && left.Undecided {
		what = "before you answered about " + named(*left.Call)
	} else if left.Call != nil {
		what = "before " + named(*left.Call) + " was done"
	}
	return "The last session here ended " + what + ": agent -c goes on with it."
}

// named is a call in a few words for people.
func named(c llm.ToolCall) string {
	args := struct{ Path, Command string }{}
	_ = json.Unmarshal([]byte(c.Args), &args) // without them the name is enough
	return sanitize.Line(archive.Clip(c.Name+" "+cmp.Or(args.Path, args.Command), 80))
}

// opened says that newer sessions are in use.
func opened(n int) string {
	if n == 1 {
		return "The newest session is open in another process"
	}
	return fmt.Sprintf("The %d newest sessions are open in other processes", n)
}

// watchdogArg is the only argument of the process that ends our commands if we are
// killed. It is no command for people.
const watchdogArg = "end-commands-when-killed"

// watchdog starts this program as its own watchdog.
func watchdog(p Process) []string {
	if p.Self == "" {
		return nil
	}
	return []string{p.Self, p.Name, watchdogArg}
}

// wire puts the program together. It owns the store from then on, if it
// returns no error.
func wire(cfg config.Config, f *flags, pl app.Place, m config.Model, face app.Face) (*app.App, error) {
	mode, err := permission.ParseMode(cfg.PermissionMode)
	if err != nil {
		return nil, usageError{err}
	}
	model, err := provider.New(cfg, m)
	if err != nil {
		return nil, usageError{err}
	}
	return app.New(app.Options{Config: cfg, Place: pl, AddDirs: f.addDirs, Mode: mode, Ref: m, Model: model, Face: face})
}
