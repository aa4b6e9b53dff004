package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// maxTaskResult is the length of a sub-agent's answer for the model, in bytes. A longer one
// is in a file, and the model sees its beginning and end.
const maxTaskResult = 30_000

// SubAgents carries out tasks, each in a conversation of its own. subagents.Crew implements
// it.
type SubAgents interface {
	// Defined lists the definitions that a task can name.
	Defined() []SubAgent
	// Run carries out a task. It returns an error only if ctx ended.
	Run(ctx context.Context, t Task) (Result, error)
}

// SubAgent is a definition of a sub-agent, as the model knows it.
type SubAgent struct {
	Name        string
	Description string
}

// Task is the work of a sub-agent.
type Task struct {
	Agent       string // the name of a definition; empty for none
	Description string // for people, in a line
	Prompt      string
	Turn        string // see Call
	Budget      Budget
	Progress    func(chunk string)
}

type taskArgs struct {
	Description string `json:"description"`
	Prompt      string `json:"prompt"`
	Agent       string `json:"agent"`
}

func (a taskArgs) title() string {
	return cmp.Or(a.Agent, "task") + ": " + a.Description
}

var taskFacts = Facts{Name: "task", Kind: KindOther, Alone: true, Hook: "Task", Names: []string{"Task", "Agent"}, Keys: map[string][]string{"agent": {"subagent_type"}}}

func task(d Deps) Tool {
	params := []args.Param{
		{Name: "description", Kind: args.Text, Required: true, Doc: "three to six words for the user"},
		{Name: "prompt", Kind: args.Text, Required: true},
	}
	defined := d.Agents.Defined()
	if len(defined) > 0 {
		params = append(params, args.Param{Name: "agent", Kind: args.Text, Doc: "one of those listed above"})
	}
	t := newTool(taskFacts.Name, params, taskArgs.title, func(ctx context.Context, call Call, a taskArgs) (Result, error) {
		if err := a.check(defined); err != nil {
			return toolcall.Failed("task was not begun: %w.", err), nil
		}
		return d.First(ctx, call, func() (Result, error) { // its edits are questions of their own
			res, err := d.Agents.Run(ctx, Task{
				Agent: a.Agent, Description: a.Description, Prompt: a.Prompt, Turn: call.Turn, Budget: call.Budget, Progress: call.Progress,
			})
			if err == nil {
				res.ForModel, res.Log, err = d.shorten(res.ForModel, maxTaskResult)
			}
			return res, err
		})
	})
	if len(defined) > 0 {
		t.spec.Description += "\nAgents:"
	}
	for _, s := range defined {
		t.spec.Description += "\n- " + s.Name + ": " + s.Description
	}
	return t.delegates()
}

// check returns an error if a cannot be carried out by one of the defined sub-agents.
func (a taskArgs) check(defined []SubAgent) error {
	var names []string
	for _, s := range defined {
		names = append(names, s.Name)
	}
	switch {
	case strings.TrimSpace(a.Prompt) == "":
		return errors.New("the prompt is empty")
	case a.Agent == "" || slices.Contains(names, a.Agent):
		return nil
	}
	if near := nearest.Name(a.Agent, names); near != "" {
		return fmt.Errorf("no agent %q is defined; did you mean %q?", a.Agent, near)
	}
	return fmt.Errorf("no agent %q is defined; there are %s", a.Agent, strings.Join(names, ", "))
}
