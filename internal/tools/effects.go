package tools

import (
	"context"
	"sync"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// recorded runs a command and records what changes meanwhile, or until its end in the background.
func (c commander) recorded(ctx context.Context, call Call, opts shell.Options, run func(shell.Options) (Result, error)) (Result, error) {
	watch := &watchedJob{}
	watch.run, watch.failed = c.Effects.Start(ctx, c.command(call, opts.Line, false))
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	moved := false
	if opts.Moved != nil {
		opts.Moved = func(job shell.Job) {
			moved = true
			watch.run.Moved()
			c.background.watched[job.ID] = watch
		}
		opts.Ended = func() { watch.end(context.WithoutCancel(ctx)) }
	}
	res, err := run(opts)
	if !moved {
		watch.end(ctx)
		res.Effects(watch.report)
	}
	return res, err
}

// movable lets a person move the command to the background.
func (c commander) movable(opts *shell.Options) {
	if c.background.background != nil {
		opts.Moved = func(shell.Job) {}
	}
}

func (c commander) command(call Call, line string, background bool) effects.Command {
	return effects.Command{
		Line: line, Background: background, Origin: workspace.Origin{Session: c.Session(), Turn: call.Turn, Call: call.ID, Tool: "execute_command"},
	}
}

// watchedJob is a command whose effects are recorded.
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
