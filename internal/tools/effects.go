package tools

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// recorded runs a command and records what changes meanwhile.
func (c commander) recorded(ctx context.Context, call Call, opts shell.Options, run func() (Result, error)) (Result, error) {
	watch, err := c.Effects.Start(ctx, c.command(call, opts.Line, false))
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

func (c commander) command(call Call, line string, background bool) effects.Command {
	return effects.Command{
		Line: line, Background: background, Origin: workspace.Origin{Session: c.Session(), Turn: call.Turn, Call: call.ID, Tool: "execute_command"},
	}
}

// Effects adds the changes by a command to its result.
func (r *Result) Effects(report effects.Report) {
	r.changed(report)
	switch n := len(report.Files); {
	case n == 1:
		r.ForUser += " · 1 file changed"
	case n > 1:
		r.ForUser += fmt.Sprintf(" · %d files changed", n)
	}
	if report.Err != nil {
		r.ForUser += " · undo may miss its changes: " + report.Err.Error()
	}
	if said := report.String(); said != "" {
		r.ForModel = strings.TrimSuffix(r.ForModel, "\n") + "\n[while it ran: " + said + "]"
	}
}

// changed adds the changed files of a report.
func (r *Result) changed(report effects.Report) {
	for _, f := range report.Files {
		r.Changes = append(r.Changes, ChangeOf(f))
	}
}

// ChangeOf returns the change of a file by a command.
func ChangeOf(f effects.File) FileChange {
	return FileChange{Path: f.Name, Added: f.Added, Removed: f.Removed, From: f.From, Deleted: f.How == effects.Deleted}
}

// watchedJob is a command in the background whose effects are recorded.
type watchedJob struct {
	run    *effects.Run
	failed error // why its effects are not recorded

	mu     sync.Mutex
	report effects.Report
}

func (w *watchedJob) end(ctx context.Context) {
	report := w.run.End(ctx)
	if w.failed != nil {
		report.Err = w.failed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report = report
}

// report returns the effects of a command that has ended.
func (w *jobWatch) report(id string) effects.Report {
	job := w.watched[id]
	if job == nil {
		return effects.Report{}
	}
	job.mu.Lock()
	defer job.mu.Unlock()
	return job.report
}
