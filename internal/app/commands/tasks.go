package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/command"
)

// tasks holds the command about sub-agents.
type tasks struct{ *Set }

func (s tasks) list() []command.Command {
	return []command.Command{{
		Name: "tasks", Args: "[stop number]", Help: "show the sub-agents that work, or stop one", Group: command.Model, Run: s.run,
	}}
}

// run lists the sub-agents, or stops one.
func (s tasks) run(_ context.Context, args string) (command.Reply, error) {
	if args != "" {
		return s.stop(args)
	}
	working := s.App.SubAgents.Running()
	if len(working) == 0 {
		return command.Reply{Text: "No sub-agent is working."}, nil
	}
	var b strings.Builder
	for _, w := range working {
		fmt.Fprintf(&b, "%3d  %s", w.N, w.Origin)
		if w.Doing != "" {
			b.WriteString(" · " + w.Doing)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n/tasks stop NUMBER stops one; the others go on.")
	return command.Reply{Text: b.String()}, nil
}

func (s tasks) stop(args string) (command.Reply, error) {
	word, number, _ := strings.Cut(args, " ")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if word != "stop" || err != nil {
		return command.Reply{}, fmt.Errorf("/tasks %s is unknown: /tasks lists the sub-agents that work, /tasks stop NUMBER stops one", args)
	}
	if !s.App.SubAgents.Stop(n) {
		return command.Reply{}, fmt.Errorf("no sub-agent %d is working; /tasks lists them", n)
	}
	return command.Reply{Text: fmt.Sprintf("Sub-agent %d is stopping.", n)}, nil
}
