package commands

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// plans holds the command about the model's plans.
type plans struct{ *Set }

func (p plans) list() []command.Command {
	return []command.Command{{
		Name: "plan", Args: "[task]", Help: "show the plan again; for a task, or without a plan, begin plan mode", Group: command.Model, Run: p.run,
	}}
}

// run shows the plan. With a task, or without a plan, it enters plan mode.
func (p plans) run(_ context.Context, task string) (command.Reply, error) {
	if task == "" {
		if text, accepted := lastPlan(p.App.Loop.Items()); text != "" {
			title := "The last plan, not accepted"
			if accepted {
				title = "The accepted plan"
			}
			return command.Reply{Page: &pager.Page{Title: title, Doc: pager.Marked(text)}}, nil
		}
	}
	reply, err := permissions(p).enter(permission.Plan.String())
	if err == nil {
		reply.Prompt = task
	}
	return reply, err
}

// lastPlan returns the plan that was accepted last or, without one, that was presented last.
func lastPlan(items []history.Item) (text string, accepted bool) {
	for _, it := range items {
		if it.Deed != nil && it.Deed.Plan != "" {
			text, accepted = it.Deed.Plan, true
		}
		for _, c := range it.Message.Calls {
			if plan := tools.PlanOf(c); plan != "" && !accepted {
				text = plan
			}
		}
	}
	return text, accepted
}
