package firstrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// ProjectServer asks whether an MCP server that a project names may start, and saves the answer.
func ProjectServer(ctx context.Context, t dialog.Terminal, s trust.Store, p setup.ProjectServer) (allowed bool, err error) {
	page := dialog.Page{Title: "Start the MCP server " + p.Name + " of this project?", YesNo: true, Choices: []picker.Item{
		{Title: "Yes, in each session here", Detail: "until its entry or a file of the project that it runs changes"},
		{Title: "No", Detail: "agent mcp rm " + p.Name + " forgets this answer"},
	}}
	if p.Answer == trust.Changed {
		page.Title = "The MCP server " + p.Name + " of this project has changed since you answered. Start it?"
	}
	page.Text = []string{trust.ServersFile + " in " + p.Dir + " names it:"}
	for _, line := range p.Entry.Lines() {
		page.Text = append(page.Text, "  "+sanitize.Line(line))
	}
	for _, name := range p.Scripts {
		if name == "." {
			page.Text = append(page.Text, "  it may run any file of this folder: you are asked again once one has changed")
			continue
		}
		page.Text = append(page.Text, "  it uses "+sanitize.Name(name)+": look at it first")
	}
	if p.Entry.URL == "" {
		page.Text = append(page.Text, "It would run with your rights, outside any sandbox. Each call of its tools is a question.")
	} else {
		page.Text = append(page.Text, "It would get what the model sends to its tools. Each call is a question.")
	}
	a, err := dialog.Ask(ctx, t, page)
	if errors.Is(err, dialog.ErrLeft) {
		return false, fmt.Errorf("%w: no server of the project was started, and you will be asked again", ErrLeft)
	}
	if err != nil {
		return false, err
	}
	p.Allowed = a.Yes()
	return p.Allowed, s.AnswerServer(ctx, p.Server)
}
