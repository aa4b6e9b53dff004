package commands

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/mcp"
)

// Bounds of the prompts of servers.
const (
	promptTime = 10 * time.Second // of waiting for a server that starts
	maxPrompt  = 100_000          // bytes
)

// ServerPrompts is the prompts of the MCP servers as commands: /server:prompt. The person is
// shown the text of one before it is sent.
type ServerPrompts struct{ App *app.App }

// List returns the prompts that are known now.
func (s ServerPrompts) List() (list []command.Command) {
	for _, p := range s.App.Servers.Prompts() {
		c := s.command(p.Server, p.Typed)
		c.Args, c.Help = usage(p), p.Help
		list = append(list, c)
	}
	return list
}

// Find returns the command of a configured server, which may still be starting.
func (s ServerPrompts) Find(name string) (c command.Command, ok bool) {
	server, typed, ok := strings.Cut(name, ":")
	if !ok || typed == "" || !s.App.Servers.Has(server) {
		return c, false
	}
	return s.command(server, typed), true
}

func (s ServerPrompts) command(server, typed string) command.Command {
	return command.Command{Name: server + ":" + typed, Group: command.Servers, Run: func(ctx context.Context, args string) (command.Reply, error) {
		return s.run(ctx, server, typed, args)
	}}
}

// run gets the text of a prompt, shows it, and asks whether to send it.
func (s ServerPrompts) run(ctx context.Context, server, typed, args string) (command.Reply, error) {
	wait, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	p, err := s.App.Servers.Prompt(wait, server, typed)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the MCP server %s is still starting; try again when it is ready", server)
	}
	if err != nil {
		return command.Reply{}, err
	}
	values, err := arguments(p, args)
	if err != nil {
		return command.Reply{}, err
	}
	text, err := s.fill(ctx, p, values)
	if err != nil {
		return command.Reply{}, err
	}
	return command.Reply{
		Text:   fmt.Sprintf("/%s:%s of the MCP server %s says:\n\n%s\n", server, typed, server, text),
		Marked: true,
		Pick: &command.Pick{
			Title: "Send this as your message?",
			Items: []command.Choice{
				{ID: "send", Title: "Send it"}, {ID: "edit", Title: "Edit it first"}, {ID: "no", Title: "Do not send it"},
			},
			Choose: func(_ context.Context, id string) (command.Reply, error) {
				switch id {
				case "send":
					return command.Reply{Prompt: text}, nil
				case "edit":
					return command.Reply{Insert: text}, nil
				}
				return command.Reply{Text: "Nothing was sent."}, nil
			},
		},
	}, nil
}

// fill returns the text of a prompt. Its pictures are attached.
func (s ServerPrompts) fill(ctx context.Context, p mcp.Prompt, values map[string]string) (string, error) {
	got, err := s.App.Servers.Fill(ctx, p, values)
	if err != nil {
		return "", err
	}
	text := got.Text
	for _, img := range got.Images {
		mark, err := s.App.Images.Add(p.Server+"."+path.Base(img.Mime), img.Data)
		if err != nil {
			return "", fmt.Errorf("a picture of the prompt: %w", err)
		}
		text += "\n" + mark
	}
	if len(text) > maxPrompt {
		return "", fmt.Errorf("the prompt is larger than %d bytes, so it is not sent", maxPrompt)
	}
	s.App.Resources.Composed(text, "") // an @name in it is the server's, not the person's
	return text, nil
}

// usage returns the arguments of a prompt for the help: "<code> [style]".
func usage(p mcp.Prompt) string {
	var all []string
	for _, a := range p.Args {
		if a.Required {
			all = append(all, "<"+a.Name+">")
		} else {
			all = append(all, "["+a.Name+"]")
		}
	}
	return strings.Join(all, " ")
}

// arguments returns the values of a prompt's arguments: NAME=VALUE, or in their order. The
// last one takes the rest of the line. A required one that is missing is an error.
func arguments(p mcp.Prompt, line string) (map[string]string, error) {
	values := map[string]string{}
	words := strings.Fields(line)
	free := func() (names []string) {
		for _, a := range p.Args {
			if _, ok := values[a.Name]; !ok {
				names = append(names, a.Name)
			}
		}
		return names
	}
	for len(words) > 0 {
		left := free()
		if name, value, ok := strings.Cut(words[0], "="); ok && p.Has(name) {
			if _, twice := values[name]; twice {
				return nil, fmt.Errorf("%s is given twice", name)
			}
			values[name], words = value, words[1:]
			continue
		}
		switch len(left) {
		case 0:
			return nil, fmt.Errorf("%q is too much: /%s:%s takes %s", words[0], p.Server, p.Typed, takes(p))
		case 1:
			values[left[0]] = strings.Join(words, " ")
			words = nil
		default:
			values[left[0]], words = words[0], words[1:]
		}
	}
	for _, a := range p.Args {
		if a.Required && values[a.Name] == "" {
			return nil, fmt.Errorf("%s is missing%s: /%s:%s takes %s", a.Name, because(a), p.Server, p.Typed, takes(p))
		}
	}
	return values, nil
}

func because(a mcp.Argument) string {
	if a.Help == "" {
		return ""
	}
	return " (" + a.Help + ")"
}

func takes(p mcp.Prompt) string {
	if len(p.Args) == 0 {
		return "no arguments"
	}
	return usage(p)
}

// Composed returns commands that people wrote, whose prompts hold more than the arguments that
// the person typed: only there an @name of an MCP server counts.
func Composed(a *app.App, list []command.Command) []command.Command {
	out := make([]command.Command, len(list))
	for i, c := range list {
		run := c.Run
		c.Run = func(ctx context.Context, args string) (command.Reply, error) {
			r, err := run(ctx, args)
			if r.Prompt != "" {
				a.Resources.Composed(r.Prompt, args)
			}
			return r, err
		}
		out[i] = c
	}
	return out
}
