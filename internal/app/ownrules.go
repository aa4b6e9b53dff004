package app

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// keepRule puts a rule in force that the user wants to last, and writes it to the user's
// own file about this folder, where alone it allows commands: below it, the same words may
// run what another project defines. If that fails, the rule lasts for the session.
func (a *App) keepRule(ctx context.Context, r permission.Rule) {
	file := config.OwnProjectFile(a.Config.Home, a.Root.Dir())
	r.Source, r.Dir = file, a.Root.Dir()
	a.Policy.AddRule(r)
	if err := writeRule(ctx, a.Config.Home, a.Root.Dir(), r); err != nil {
		a.emit(session.Notice{Text: "The rule " + r.String() + " lasts only for this session: " + err.Error()})
		return
	}
	a.emit(session.Notice{Text: "Written: " + r.Effect.String() + " " + r.String() + " in " + file})
}

// writeRule adds a rule to the user's own file about dir.
func writeRule(ctx context.Context, home, dir string, r permission.Rule) error {
	return statefile.Change(ctx, config.OwnProjectFile(home, dir), func(data []byte) ([]byte, error) {
		return config.AddOwnRule(home, dir, data, config.Rule{Effect: r.Effect.String(), Text: r.String()})
	})
}
