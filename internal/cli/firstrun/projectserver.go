package firstrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// ProjectServer asks whether a server of a project may start, and saves the answer. Changed
// means that another entry of that name was answered about.
func ProjectServer(ctx context.Context, t dialog.Terminal, s trust.Store, srv trust.Server, entry config.MCPServer, scripts []string, changed bool) (allowed bool, err error) {
	page := dialog.Page{Title: "Start the MCP server " + srv.Name + " of this project?", Choices: []picker.Item{
		{Title: "No", Detail: "agent mcp rm " + srv.Name + " forgets this answer"},
		{Title: "Yes, in each session here", Detail: "until its entry or a program of the project that it names changes"},
	}}
	if changed {
		page.Title = "The MCP server " + srv.Name + " of this project has changed since you answered. Start it?"
	}
	page.Text = []string{trust.ServersFile + " in " + srv.Dir + " names it:"}
	for _, line := range entry.Lines() {
		page.Text = append(page.Text, "  "+sanitize.Line(line))
	}
	for _, name := range scripts {
		page.Text = append(page.Text, "  it uses "+sanitize.Name(name)+": look at it first")
	}
	if entry.URL == "" {
		page.Text = append(page.Text, "It would run with your rights, outside any sandbox. Each call of its tools is a question.")
	} else {
		page.Text = append(page.Text, "It would get what the model sends to its tools. Each call is a question.")
	}
	a, err := dialog.Ask(ctx, t, page)
	if errors.Is(err, dialog.ErrLeft) {
		return false, fmt.Errorf("%w: nothing of the project was started, and you will be asked again", ErrLeft)
	}
	if err != nil {
		return false, err
	}
	srv.Allowed = a.Choice == 1
	return srv.Allowed, s.AnswerServer(ctx, srv)
}
