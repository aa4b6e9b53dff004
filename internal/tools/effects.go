package tools

import (
	"context"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// recorded runs a command and records what changes meanwhile.
func (c commander) recorded(ctx context.Context, call Call, opts shell.Options, run func() (Result, error)) (Result, error) {
	watch, err := c.Effects.Start(ctx, c.command(call, opts.Line))
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	res, runErr := run()
	report := watch.End(ctx)
	if err != nil {
		report.Err = err
	}
	res.Effects(report)
	return res, runErr
}

func (c commander) command(call Call, line string) effects.Command {
	return effects.Command{
		Line: line, Origin: workspace.Origin{Session: c.Session(), Turn: call.Turn, Call: call.ID, Tool: "execute_command"},
	}
}

// Effects adds the changes by a command to its result.
func (r *Result) Effects(report effects.Report) {
	for _, f := range report.Files {
		r.Changes = append(r.Changes, FileChange{Path: f.Name, Added: f.Added, Removed: f.Removed})
	}
	switch n := len(report.Files); {
	case n == 1:
		r.ForUser += " · 1 file changed"
	case n > 1:
		r.ForUser += fmt.Sprintf(" · %d files changed", n)
	}
	if said := report.String(); said != "" {
		r.ForModel += "\n[while it ran: " + said + "]"
	}
}
