package commands

import (
	"bytes"
	"context"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/settings"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
)

// program are the commands about the program itself.
type program struct{ *Set }

func (p program) list() []command.Command {
	return []command.Command{
		{Name: "config", Help: "show the current settings", Group: command.Program, Run: p.config},
		{Name: "doctor", Help: "check that the agent has everything it needs, and list the files and servers in use", Group: command.Program, Run: p.doctor},
	}
}

func (p program) config(context.Context, string) (command.Reply, error) {
	return command.Reply{Page: &pager.Page{Title: "Settings", Doc: pager.Text(settings.Describe(p.App.Config))}}, nil
}

func (p program) doctor(ctx context.Context, _ string) (command.Reply, error) {
	var out bytes.Buffer
	p.Doctor(ctx, p.App.Info().Name, &out)
	return command.Reply{Text: out.String()}, nil
}
