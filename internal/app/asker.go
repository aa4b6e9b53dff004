package app

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// asker asks the tools' questions. It adds the notes of hooks and the rule to offer, and
// carries out the rest of the answer: a rule, the end of plan mode. The editor shows that
// somebody is asked.
type asker struct{ app *App }

// Ask asks the person, unless a rule answers.
func (a asker) Ask(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	defer a.app.Editor.Activity.Asks()()
	switch refused, err := guard(ctx, &req); {
	case err != nil:
		return confirm.Verdict{}, err
	case refused != nil:
		return *refused, nil
	}
	rules := a.app.Policy.Proposals(req)
	command, runs := req.Subject.(*confirm.Command)
	if rule, part, ok := a.app.Policy.OnlyOpen(req); ok && (!runs || command.Dir == a.app.Root.Dir()) { // see keepRule
		check := func(rule string) error {
			_, err := a.app.Policy.CheckRule(req, rule, judge)
			return err
		}
		req.Offer = &confirm.Offer{Rule: rule.String(), Part: part, Check: check}
	}
	v, err := a.app.Questions.Ask(ctx, req)
	switch {
	case v.Unasked:
		for _, r := range rules {
			v.AllowWith = append(v.AllowWith, r.String())
		}
	case v.Mode != "" && err == nil:
		return v, a.app.leavePlan(v.Mode)
	case v.Always != nil && err == nil:
		a.app.makeRule(ctx, req, *v.Always)
	case v.Session && err == nil:
		a.app.tellGrant(req)
	}
	return v, err
}

// tellGrant names the requests that a yes for the session allows from now on.
func (a *App) tellGrant(req confirm.Request) {
	if r, ok := a.Policy.Granted(req); ok {
		a.tellAllowed(r, confirm.Term{})
	}
}

// leavePlan enters the mode that the person chose with the acceptance of a plan.
func (a *App) leavePlan(name string) error {
	mode, err := permission.ParseMode(name)
	if err != nil {
		return err
	}
	return a.Policy.SetMode(mode)
}

// answered is called with each answer.
func (a *App) answered(ctx context.Context, req confirm.Request, v confirm.Verdict) {
	a.Policy.Approved(req, v)
	a.guidance.answered(ctx, req, v)
	a.trials.answered(req, v)
}
