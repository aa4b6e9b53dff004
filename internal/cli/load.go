package cli

import (
	"context"
	"os"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/cli/firstrun"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
)

// loadSetup loads the configuration for a folder, and the project's own if the user trusts
// it. Unless asks is set it asks nothing.
func loadSetup(ctx context.Context, p Process, f *flags, over config.Overrides, asks bool) (setup.Setup, error) {
	r := f.request(over)
	if asks {
		r.Asker = asker{p}
	}
	return setup.Load(ctx, r)
}

// request returns the session that the flags ask for.
func (f *flags) request(over config.Overrides) setup.Request {
	return setup.Request{Over: over, Dir: f.dir, AddDirs: f.addDirs, Trust: f.trust}
}

// asker asks on the terminal.
type asker struct{ p Process }

func (a asker) Trust(ctx context.Context, cfg config.Config, s trust.Store, f trust.Found, before trust.Answer) (bool, error) {
	return firstrun.Trust(ctx, dialogTerminal(a.p, cfg), s, f, before, cfg.Model == "")
}

func (a asker) Server(ctx context.Context, cfg config.Config, s trust.Store, server setup.ProjectServer) (bool, error) {
	return firstrun.ProjectServer(ctx, dialogTerminal(a.p, cfg), s, server)
}

// completeSetup asks for a model and its key if one is missing. It returns set unchanged
// if nothing is missing or there is nobody to ask. suggest is a first prompt to suggest.
func completeSetup(ctx context.Context, p Process, f *flags, over config.Overrides, set setup.Setup) (with setup.Setup, suggest string, err error) {
	if !talks(p) {
		return set, "", nil
	}
	o := firstrun.Options{Terminal: dialogTerminal(p, set.Config), Config: set.Config, Screens: 3}
	if o.Second = set.AskedTrust; o.Second {
		o.Screens--
	}
	m, unknown := set.Lookup(set.Model)
	var notes []string
	switch {
	case set.Model == "":
		suggest = firstrun.Suggestion(f.dir)
		notes, err = firstrun.Model(ctx, o)
	case unknown != nil:
		return set, "", usageError{Err: unknown}
	case provider.MissingKey(set.Config, m) != nil:
		notes, err = firstrun.Key(ctx, o, m)
	default:
		return set, "", firstrun.Servers(ctx, o.Terminal, allowedservers.Open(set.Home), m)
	}
	if err != nil {
		return set, "", err
	}
	with, err = loadSetup(ctx, p, f, over, false)
	with.Notes = append(with.Notes, notes...)
	return with, suggest, err
}

// dialogTerminal returns the terminal for a dialog.
func dialogTerminal(p Process, cfg config.Config) dialog.Terminal {
	return dialog.Terminal{
		In: p.Stdin, Out: p.Stdout, Env: os.Environ(), Theme: cfg.Interface.Theme, Flat: isDumb(p) || cfg.Interface.ScreenReader,
	}
}
