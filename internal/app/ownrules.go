package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
)

// judge is the permission.Judge of rules that a person edits.
func judge(line string) (parts []confirm.CommandPart, danger bool) {
	j := safecmd.Classify(line)
	return j.CommandParts(false), j.Class == safecmd.Danger
}

// makeRule puts a rule in force that a person made with the answer to req.
func (a *App) makeRule(ctx context.Context, req confirm.Request, made confirm.Always) {
	r, err := a.Policy.CheckRule(req, made.Rule, judge)
	switch {
	case err != nil:
	case made.Term.Project:
		err = a.keepRule(ctx, req, r)
	default:
		err = a.holdRule(req, r, made.Term)
	}
	if err != nil {
		a.emit(session.Notice{Text: "You will still be asked: the rule " + made.Rule + " was not made: " + err.Error()})
	}
}

// holdRule puts a rule in force for this session, if not shorter.
func (a *App) holdRule(req confirm.Request, r permission.Rule, term confirm.Term) error {
	r.Source, r.Life.Uses = "your answer, "+term.String(), term.Uses
	if c, ok := req.Subject.(*confirm.Command); ok {
		r.Dir = c.Dir
	}
	if term.Time > 0 {
		r.Life.Until = time.Now().Add(term.Time)
	}
	if err := a.Policy.Hold(req, r); err != nil {
		return err
	}
	a.tellAllowed(r, term)
	return nil
}

// tellAllowed tells the person what their answer allows from now on, and how to undo that.
func (a *App) tellAllowed(r permission.Rule, term confirm.Term) {
	what, verb := confirm.Covered(r.String()), " is"
	if strings.HasPrefix(what, "all ") || strings.HasPrefix(what, "edits") || strings.HasPrefix(what, "pages ") {
		verb = " are"
	}
	a.emit(session.Notice{Text: "From now on " + what + verb + " allowed without a question " + term.In() + ". Undo: /permissions"})
}

// keepRule puts a rule in force that the user wants to last, and writes it to the user's
// own file about this folder, where alone it allows commands: below it, the same words may
// run what another project defines. If that fails, the rule lasts for the session.
func (a *App) keepRule(ctx context.Context, req confirm.Request, r permission.Rule) error {
	file := config.OwnProjectFile(a.Config.Home, a.Root.Dir())
	if err := writeRule(ctx, a.Config.Home, a.Root.Dir(), r); err != nil {
		a.emit(session.Notice{Text: "The rule " + r.String() + " could not be saved and lasts only for this session: " + err.Error()})
		return a.holdRule(req, r, confirm.Term{})
	}
	r.Source, r.Dir, r.Kept = file, a.Root.Dir(), permission.OwnFile
	a.Policy.AddRule(r)
	a.tellAllowed(r, confirm.Term{Project: true})
	return nil
}

// RevokeRule takes back a rule that the user made: it is no longer in force, and no longer
// in the user's own file about this folder.
func (a *App) RevokeRule(ctx context.Context, r permission.Rule) error {
	if r.Kept == permission.OwnFile {
		if err := removeRule(ctx, a.Config.Home, a.Root.Dir(), r); err != nil {
			return fmt.Errorf("the rule %s stays: %w", r, err)
		}
	}
	if !a.Policy.Revoke(r) {
		return fmt.Errorf("%s is no longer allowed", r)
	}
	return nil
}

// writeRule adds a rule to the user's own file about dir.
func writeRule(ctx context.Context, home, dir string, r permission.Rule) error {
	return statefile.Change(ctx, config.OwnProjectFile(home, dir), func(data []byte) ([]byte, error) {
		return config.AddOwnRule(home, dir, data, config.Rule{Effect: r.Effect.String(), Text: r.Text})
	})
}

// removeRule removes a rule from the user's own file about dir.
func removeRule(ctx context.Context, home, dir string, r permission.Rule) error {
	return statefile.Change(ctx, config.OwnProjectFile(home, dir), func(data []byte) ([]byte, error) {
		return config.RemoveOwnRule(home, dir, data, config.Rule{Effect: r.Effect.String(), Text: r.Text})
	})
}
