package commands

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/nearest"
)

// models are the commands about the model and its instructions.
type models struct{ *Set }

func (m models) list() []command.Command {
	return []command.Command{
		{Name: "model", Args: "[name] [effort=LEVEL]", Help: "show or change the model and how much it thinks", Group: command.Model, Idle: true, Run: m.model},
		{Name: "init", Help: "let the model write an AGENTS.md", Group: command.Model, Idle: true, Run: m.init},
	}
}

// model changes the model, by name or by choice, or its effort.
func (m models) model(ctx context.Context, args string) (command.Reply, error) {
	if name, effort, ok := cutEffort(args); ok {
		return m.setEffort(ctx, name, effort)
	}
	if args != "" {
		return m.checked(ctx, args)
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
			items[i].Detail = strings.TrimSuffix("now, "+m.effort()+n.Detail, ", ")
		}
	}
	return command.Reply{Pick: &command.Pick{Title: "Choose a model", Items: items, Choose: m.use}}, nil
}

// checked uses a model, and warns if its server does not list it.
func (m models) checked(ctx context.Context, name string) (command.Reply, error) {
	reply, err := m.use(ctx, name)
	if err != nil {
		return reply, err
	}
	offers, err := m.App.Models(ctx)
	refs := make([]string, len(offers))
	for i, o := range offers {
		refs[i] = o.Ref
	}
	if err == nil && len(refs) > 0 && !slices.Contains(refs, name) {
		reply.Text += "\nThe server does not list this model, and will probably refuse it"
		if near := nearest.Name(name, refs); near != "" {
			reply.Text += "; did you mean " + near + "?"
		} else {
			reply.Text += "; /model shows its list."
		}
	}
	return reply, nil
}

func (m models) use(ctx context.Context, name string) (command.Reply, error) {
	notes, err := m.App.SetModel(ctx, name)
	if err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: strings.Join(append([]string{"Model: " + name}, notes...), "\n")}, nil
}

// cutEffort cuts "effort=LEVEL" off the end of the arguments.
func cutEffort(args string) (name, effort string, ok bool) {
	i := strings.LastIndex(" "+args, " effort=")
	if i < 0 {
		return args, "", false
	}
	return strings.TrimSpace(args[:i]), args[i+len("effort="):], true
}

// setEffort changes the effort of a model, which becomes the one in use; an empty name is
// the one in use.
func (m models) setEffort(ctx context.Context, name, level string) (command.Reply, error) {
	effort, err := app.ParseEffort(level)
	if err != nil {
		return command.Reply{}, err
	}
	reply := command.Reply{Text: "Model: " + m.App.Info().Name}
	if name != "" {
		if reply, err = m.checked(ctx, name); err != nil {
			return command.Reply{}, err
		}
	}
	if err := m.App.SetEffort(effort); err != nil {
		return command.Reply{}, err
	}
	reply.Text += "\nEffort: " + cmp.Or(effort, app.DefaultEffort)
	return reply, nil
}

// effort describes the effort of the model in use for a list; empty for the default.
func (m models) effort() string {
	if effort := m.App.Effort(); effort != "" {
		return "effort " + effort + ", "
	}
	return ""
}

func (m models) init(context.Context, string) (command.Reply, error) {
	return command.Reply{Prompt: initPrompt}, nil
}

// initPrompt is the prompt of /init.
const initPrompt = "Read this project and write an AGENTS.md at its root: what it is, how to build and test it, " +
	"its layout and its conventions, in at most 60 lines. If there is one already, improve it."
