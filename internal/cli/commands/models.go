package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/command"
)

// models are the commands about the model and its instructions.
type models struct{ *Set }

func (m models) list() []command.Command {
	return []command.Command{
		{Name: "model", Args: "[name]", Help: "show or change the model", Group: command.Model, Idle: true, Run: m.model},
		{Name: "init", Help: "let the model write an AGENTS.md", Group: command.Model, Idle: true, Run: m.init},
	}
}

// model changes the model, by name or by choice.
func (m models) model(ctx context.Context, name string) (command.Reply, error) {
	if name != "" {
		return m.use(ctx, name)
	}
	names, err := m.App.Models(ctx)
	if err != nil {
		return command.Reply{}, err
	}
	if len(names) == 0 {
		return command.Reply{}, errors.New("the provider lists no models; use /model NAME")
	}
	items := make([]command.Choice, len(names))
	for i, n := range names {
		items[i] = command.Choice{ID: n.Ref, Title: n.Ref, Detail: n.Detail}
		if n.Ref == m.App.Info().Name {
			items[i].Detail = strings.TrimSuffix("now, "+n.Detail, ", ")
		}
	}
	return command.Reply{Pick: &command.Pick{Title: "Choose a model", Items: items, Choose: m.use}}, nil
}

func (m models) use(ctx context.Context, name string) (command.Reply, error) {
	notes, err := m.App.SetModel(ctx, name)
	if err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: strings.Join(append([]string{"Model: " + name}, notes...), "\n")}, nil
}

func (m models) init(context.Context, string) (command.Reply, error) {
	return command.Reply{Prompt: initPrompt}, nil
}

// initPrompt is the prompt of /init.
const initPrompt = "Read this project and write an AGENTS.md at its root: what it is, how to build and test it, " +
	"its layout and its conventions, in at most 60 lines. If there is one already, improve it."
