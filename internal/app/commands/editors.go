package commands

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/app/command"
)

// editors holds the command about the link to an editor.
type editors struct{ *Set }

func (e editors) list() []command.Command {
	return []command.Command{
		{Name: "ide", Args: "[connect|disconnect|status]", Help: "show, make or end the link to your editor", Group: command.Program, Run: e.ide},
	}
}

// ide runs /ide; "connect" alone lets the person choose if there are several editors.
func (e editors) ide(ctx context.Context, args string) (command.Reply, error) {
	if args == "connect" {
		var items []command.Choice
		for _, c := range e.App.Editor.Choices(ctx) {
			items = append(items, command.Choice{ID: c.ID, Title: c.Title, Detail: c.Detail})
		}
		if len(items) > 1 {
			connect := func(ctx context.Context, id string) (command.Reply, error) { return e.ide(ctx, "connect "+id) }
			return command.Reply{Pick: &command.Pick{Title: "Choose an editor", Items: items, Choose: connect}}, nil
		}
	}
	text, err := e.App.Editor.Command(ctx, args)
	return command.Reply{Text: text}, err
}
