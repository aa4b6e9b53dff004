package commands

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// tasks holds the command about running work.
type tasks struct{ *Set }

func (s tasks) list() []command.Command {
	return []command.Command{{
		Name: "tasks", Args: "[stop] [name]", Help: "show what runs: background commands and sub-agents; end one", Group: command.Model, Run: s.run,
	}}
}

// task is a command in the background or a sub-agent.
type task struct {
	id, title, doing string
	began            time.Time
	used             string
	latest           func() string // its last lines
	stop             func() error
}

// running returns the tasks that run.
func (s tasks) running() []task {
	work := s.App.Work()
	var all []task
	for _, j := range work.Jobs {
		all = append(all, jobTask(s.App, j))
	}
	for _, r := range work.SubAgents {
		all = append(all, agentTask(s.App, r))
	}
	return all
}

func jobTask(a *app.App, j shell.Job) task {
	return task{
		id: j.ID, title: j.Line, began: j.Started,
		latest: func() string { return cmp.Or(j.Latest(), "(no output yet)") }, stop: func() error { return a.EndJob(j.ID) },
	}
}

func agentTask(a *app.App, r subagents.Running) task {
	t := task{
		id: strconv.Itoa(r.N), title: r.Origin, doing: r.Doing, began: r.Started,
		latest: func() string {
			return strings.Join(append(r.Steps, cmp.Or(r.Doing, "waiting for the model")+" …"), "\n")
		},
		stop: func() error {
			if !a.SubAgents.Stop(r.N) {
				return fmt.Errorf("sub-agent %d has ended already", r.N)
			}
			return nil
		},
	}
	switch n := r.Used.Input + r.Used.Output; {
	case r.Used.CostUSD > 0:
		t.used = fmt.Sprintf("$%.2f", r.Used.CostUSD)
	case n > 0:
		t.used = theme.Count(n) + " tokens"
	}
	return t
}

// run lists the tasks, shows the last lines of one, or ends it.
func (s tasks) run(_ context.Context, args string) (command.Reply, error) {
	name, stop := strings.CutPrefix(args, "stop")
	name = strings.TrimSpace(name)
	all := s.running()
	switch {
	case len(all) == 0:
		return command.Reply{Text: "Nothing is running: no background commands, no sub-agents." + ended(s.App.EndedJobs())}, nil
	case name == "" && !stop:
		return command.Reply{Pick: s.pick(all)}, nil
	case name == "" && len(all) > 1:
		return command.Reply{}, fmt.Errorf("/tasks stop NAME ends one of: %s", ids(all))
	case name == "":
		name = all[0].id
	}
	for _, t := range all {
		switch {
		case t.id != name:
		case stop:
			return t.end()
		default:
			return command.Reply{Text: t.latest()}, nil
		}
	}
	return command.Reply{}, fmt.Errorf("%s is not running; these are: %s", name, ids(all))
}

// ended describes the newest of the commands that have ended, with its last lines: it may be a server
// that is thought to run.
func ended(jobs []shell.Job) string {
	if len(jobs) == 0 {
		return ""
	}
	j := jobs[len(jobs)-1]
	return strings.TrimRight(fmt.Sprintf("\n%s has ended (exit %d): %s\n%s", j.ID, j.ExitCode, j.Line, j.Latest()), "\n")
}

func ids(all []task) string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.id
	}
	return strings.Join(names, ", ")
}

// pick lists the tasks. Choosing one asks whether to end it.
func (s tasks) pick(all []task) *command.Pick {
	p := &command.Pick{Title: "Running now: choose one to end it"}
	for _, t := range all {
		p.Items = append(p.Items, command.Choice{
			ID: t.id, Title: t.id + "  " + t.title, Detail: t.doing, Cells: []string{theme.Seconds(time.Since(t.began)), t.used}, Preview: t.latest,
		})
	}
	p.Choose = s.choose
	return p
}

// choose asks what to do with a task.
func (s tasks) choose(_ context.Context, id string) (command.Reply, error) {
	for _, t := range s.running() {
		if t.id != id {
			continue
		}
		return command.Reply{Pick: &command.Pick{
			Title: "End " + t.id + " (" + t.title + ")?", Items: []command.Choice{{ID: "end", Title: "End it"}, {ID: "show", Title: "Show its last lines"}},
			Choose: func(_ context.Context, what string) (command.Reply, error) {
				if what == "end" {
					return t.end()
				}
				return command.Reply{Text: t.latest()}, nil
			},
		}}, nil
	}
	return command.Reply{Text: id + " has ended already."}, nil
}

// end ends the task.
func (t task) end() (command.Reply, error) {
	if err := t.stop(); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: "Ended " + t.id + ": " + t.title}, nil
}
