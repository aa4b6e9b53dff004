package cli

import (
	"context"
	"slices"

	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/repl/command"
)

// expand puts the text of a command that people have written in the place of its name
// and arguments: with -p there is no other kind.
func expand(ctx context.Context, p Process, f *flags, set setup, prompt string) (string, error) {
	name, args, ok := command.Split(prompt)
	if !ok {
		return prompt, nil
	}
	o := opening{flags: f, cfg: set.Config, projects: set.commands}
	slash := newSlash(p, &o)
	for _, note := range o.notes {
		remark(p, note)
	}
	for _, c := range o.own {
		if c.Name == name {
			r, err := c.Run(ctx, args)
			return r.Prompt, err
		}
	}
	if slices.ContainsFunc(append(repl.OwnCommands(), slash.List()...), func(c command.Command) bool { return c.Name == name }) {
		return "", usagef("/%s is a command of a session; with -p there are prompts, and the commands that you have written", name)
	}
	return prompt, nil
}
