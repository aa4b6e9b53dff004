package tools

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// maxPlanText is the size of a plan in bytes. Nobody reads a longer one to its end.
const maxPlanText = 64 << 10

type presentPlanArgs struct {
	Plan string `json:"plan"`
}

var presentPlanFacts = Facts{Name: "present_plan", Kind: KindThink, Alone: true, Hook: "ExitPlanMode", Names: []string{"ExitPlanMode"}}

// presentPlan ends the plan mode: the person accepts the plan and chooses the mode to go on
// in. It is offered in every mode, because servers cache the list of tools.
func presentPlan(d Deps) Tool {
	params := []args.Param{{Name: "plan", Kind: args.Text}}
	return newTool(presentPlanFacts.Name, params, presentPlanArgs.title, planner{d}.present)
}

func (a presentPlanArgs) title() string {
	for line := range strings.Lines(a.Plan) {
		if line = strings.Trim(line, "# \t\r\n"); line != "" {
			return "Plan: " + line
		}
	}
	return "Plan"
}

// PlanOf returns the plan that a call presents, "" for other calls.
func PlanOf(c llm.ToolCall) string {
	var a presentPlanArgs
	if c.Name != presentPlanFacts.Name || json.Unmarshal([]byte(c.Args), &a) != nil {
		return ""
	}
	return a.Plan
}

type planner struct{ Deps }

func (p planner) present(ctx context.Context, call Call, a presentPlanArgs) (Result, error) {
	switch {
	case p.Planning == nil || !p.Planning():
		return toolcall.Failed("present_plan was not run: the permission mode is not plan. Continue without it."), nil
	case strings.TrimSpace(a.Plan) == "":
		return toolcall.Failed("present_plan was not run: the plan is empty."), nil
	case len(a.Plan) > maxPlanText:
		return toolcall.Failed("present_plan was not run: the plan has %d bytes, the limit is %d.", len(a.Plan), maxPlanText), nil
	}
	v, err := p.Ask.Ask(ctx, confirm.Request{
		Tool: "present_plan", Description: call.Description, Batch: call.Batch, Subject: &confirm.Document{Text: a.Plan},
	})
	switch {
	case err != nil:
		return Result{}, UnansweredError{Err: err}
	case v.Decision == confirm.Approve:
		return a.accepted(v), nil
	case v.Unasked:
		return Result{
			ForModel: "Nobody could be asked, so the plan is the answer to the prompt.", ForUser: "the answer",
			Answer: a.Plan, Record: Record{Result: "was the answer"},
		}, nil
	}
	return toolcall.Declined("present_plan", "plan", "Plan mode continues; revise the plan and present it again.", v), nil
}

// accepted returns the result for the plan as the person left it.
func (a presentPlanArgs) accepted(v confirm.Verdict) Result {
	text, how := a.Plan, "accepted"
	model := "The user accepted this plan unchanged. Carry it out now."
	if edited := v.Edited(); edited != nil {
		text, how = *edited, "accepted with changes"
		model = "The user changed the plan and accepted it. Carry out this text now, and nothing that it leaves out:\n\n" + text
	}
	return Result{
		ForModel: model + toolcall.Feedback(v), ForUser: how + ", " + v.Mode + " mode", Plan: text,
		Record: Record{Result: how + " by the user", Words: "The accepted plan:\n" + text},
	}
}
