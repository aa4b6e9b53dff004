// Package commands holds the slash commands that work on the session, the project and
// the configuration, for any face. It guarantees that a command asks before it writes a
// file, unless the user named a new file.
package commands

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
)

// Set is the commands of a session. One without an App can only list them.
type Set struct {
	App *app.App
	// Doctor writes the report of agent doctor on the given model.
	Doctor func(ctx context.Context, model string, out io.Writer)
}

// List returns the commands in the order of the help.
func (s *Set) List() []command.Command {
	list := slices.Concat(
		sessions{s}.list(), answers{s}.list(), changes{s}.list(), models{s}.list(), plans{s}.list(), permissions{s}.list(), servers{s}.list(), tasks{s}.list(),
		room{s}.list(), editors{s}.list(), program{s}.list(), themes{s}.list(),
	)
	for i := range list {
		if list[i].Args == "" {
			list[i].Run = alone(list[i])
		}
	}
	return list
}

// alone returns the Run of a command without arguments, which refuses them: "/clear the
// cache" may be meant as a prompt.
func alone(c command.Command) func(ctx context.Context, args string) (command.Reply, error) {
	return func(ctx context.Context, args string) (command.Reply, error) {
		if args != "" {
			return command.Reply{}, fmt.Errorf("/%s takes no arguments, so nothing was done. Begin a prompt with another word", c.Name)
		}
		return c.Run(ctx, "")
	}
}
