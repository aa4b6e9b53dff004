// Package commands holds the slash commands that work on the session, the project and
// the configuration, for any face. It guarantees that a command asks before it writes a
// file, unless the user named a new file.
package commands

import (
	"context"
	"io"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/repl/command"
)

// Set is the commands of a session. One without an App can only list them.
type Set struct {
	App *app.App
	// Doctor writes the report of agent doctor on the given model.
	Doctor func(ctx context.Context, model string, out io.Writer)
}

// List returns the commands in the order of the help.
func (s *Set) List() []command.Command {
	return slices.Concat(
		sessions{s}.list(), answers{s}.list(), changes{s}.list(), models{s}.list(), permissions{s}.list(), servers{s}.list(), tasks{s}.list(),
		room{s}.list(), editors{s}.list(), program{s}.list(), themes{s}.list(),
	)
}
