package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/trial"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Trials runs commands in a copy of the folder. trial.Trials implements it.
type Trials interface {
	// Missing explains why this system has no such copies; "" if it has.
	Missing(ctx context.Context) string
	// Run runs a command in a copy that holds the pending changes.
	Run(ctx context.Context, opts shell.Options, pending []workspace.Change) (*trial.Outcome, error)
}

// trial returns the question whether a command first runs in a copy, which the policy alone answers;
// nil if it cannot. why then explains that, if there is more to say than that it only reads.
func (c commander) trial(x execution) (req *confirm.Request, why string) {
	switch {
	case c.Trials == nil || c.AskAll:
		return nil, ""
	case x.Background:
		return nil, "stays in the background"
	case x.judged.Class == safecmd.Safe:
		return nil, ""
	}
	if why := c.place(x.opts.Dir).Untried(x.judged); why != "" {
		return nil, why
	}
	asked := c.request(x)
	asked.Notes = nil
	confirm.As[*confirm.Command](asked).Trial, asked.Later = true, true
	return &asked, ""
}

// try runs a command in a copy of the folder, if the policy lets it, and proposes its changes there.
// If it returns no result, the command has to be asked about; why then explains why, if the copy is
// the reason.
func (c commander) try(ctx context.Context, x execution) (res *Result, why string, err error) {
	req, why := c.trial(x)
	switch {
	case req == nil && why == "" || c.Trials.Missing(ctx) != "":
		return nil, "", nil
	case req == nil:
		return nil, why, nil
	}
	v, err := c.Ask.Ask(ctx, *req)
	switch {
	case err != nil:
		return nil, "", UnansweredError{Err: err}
	case v.Later != nil:
		return nil, "", nil
	case v.Decision != confirm.Approve:
		res := toolcall.Declined("execute_command", "command", "It was not run.", v)
		return &res, "", nil
	}
	res, why, err = c.tried(ctx, x)
	if res != nil {
		res.Rule = v.By
	}
	return res, why, err
}

// onlyTrials returns the result of a command that may not run outside of a copy; nil if it may.
func (c commander) onlyTrials(ctx context.Context, untried string) *Result {
	if !c.OnlyTrials {
		return nil
	}
	if c.Trials == nil || untried == "" {
		untried = "cannot run there"
		if c.Trials != nil {
			if why := c.Trials.Missing(ctx); why != "" {
				untried += ": " + why
			}
		}
	}
	res := toolcall.Failed("execute_command was not run: the user lets commands run only in a copy of the folder (trial: required), and it %s. Tell the user.", untried)
	return &res
}

// tried runs a command in a copy and proposes its changes there.
func (c commander) tried(ctx context.Context, x execution) (*Result, string, error) {
	var pending []workspace.Change
	for _, p := range c.Pending.All() {
		pending = append(pending, p.Change)
	}
	out, err := c.Trials.Run(ctx, x.opts, pending)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		why := "could not be tried in a copy of the folder: " + err.Error()
		return nil, why, ctx.Err()
	}
	if c.Pending != nil && slices.ContainsFunc(out.Changes, func(ch workspace.Change) bool { return ch.States != nil && !ch.States.OfFile() }) {
		out.Withheld = cmp.Or(out.Withheld, "changes a link or a folder, which cannot wait for the review of the turn")
	}
	later, ok := c.keep(x, out)
	if out.Withheld != "" || !ok {
		return nil, cmp.Or(out.Withheld, trial.ChangesRepository) + ", as its run in a copy of the folder showed", nil
	}
	model, user := FormatCommand(out.Result, x.opts.Timeout)
	res := Result{ForModel: model, ForUser: user + " · in a copy", Lines: out.Lines, Log: out.Spill, Failed: out.ExitCode != 0 || out.TimedOut}
	switch {
	case later != "":
		res.ForUser += ", " + later
		res.ForModel = strings.TrimSuffix(res.ForModel, "\n") + "\n[it ran in a copy of the folder; it " + later + "]"
		return &res, "", nil
	case len(out.Changes) == 0:
		res.ForUser += ", nothing changed"
		res.ForModel = strings.TrimSuffix(res.ForModel, "\n") + "\n[it ran in a copy of the folder, so nothing in the folder changed; what it wrote to files that git ignores is only in the copy, and elsewhere (home, /tmp) is gone]"
		return &res, "", nil
	}
	proposed, err := c.proposeTried(ctx, x.Call, x.opts.Line, out.Changes)
	if err != nil {
		return nil, "", err
	}
	res.ForUser += " · " + proposed.ForUser
	res.ForModel = strings.TrimSuffix(res.ForModel, "\n") + "\n[it ran in a copy of the folder. What it changed there was proposed to the user:]\n" + proposed.ForModel
	res.Changes, res.Stop, res.Denied, res.Record = proposed.Changes, proposed.Stop, proposed.Denied, proposed.Record
	res.Failed = res.Failed || proposed.Failed
	return &res, "", nil
}

// proposeTried proposes the changes that a command made in a copy.
func (c commander) proposeTried(ctx context.Context, call Call, line string, changes []workspace.Change) (Result, error) {
	title := fmt.Sprintf("what `%s` would change", toolcall.OneLine(line, toolcall.MaxTitle))
	if c.Planning != nil && c.Planning() {
		return Result{ForModel: title + ". Nothing is changed in plan mode.", ForUser: "nothing is changed in plan mode"}, nil
	}
	return c.writer("execute_command").Propose(ctx, call, change.Set{Title: title, Changes: changes})
}
