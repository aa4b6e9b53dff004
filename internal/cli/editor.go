package cli

import (
	"context"

	projectctx "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl"
)

// told is what the system prompt tells of.
func (a *app) told() projectctx.Options {
	o := projectctx.Options{Dir: a.root.Dir(), Roots: a.root.Roots(), Shell: shellName()}
	o.Editor, o.Apart = a.link.Told()
	return o
}

// conversation is the session as a face drives it: prompts are expanded.
type conversation struct{ *app }

// Run answers a prompt.
func (c conversation) Run(ctx context.Context, prompt string) error {
	return c.loop.Run(ctx, c.prompts.Prompt(ctx, prompt))
}

// Messages returns the conversation so far.
func (c conversation) Messages() []llm.Message { return c.loop.Messages() }

// editors lists what /ide connect can choose from.
func (s *screenFace) editors(ctx context.Context) ([]repl.Choice, error) {
	var all []repl.Choice
	for _, c := range s.app.link.Choices(ctx) {
		all = append(all, repl.Choice(c))
	}
	return all, nil
}

// context says what the model is told beside the conversation.
func (s *screenFace) context(ctx context.Context, _ string) (string, error) {
	text := s.app.prompt.System(ctx)
	if _, apart := s.app.link.Told(); apart {
		text += "\nWith the newest message:\n" + s.app.prompt.Editor(ctx)
	}
	return text, nil
}

// surfaces are the other places of a question. The link is made after the screen.
type surfaces struct{ s *screenFace }

// Claim takes a question for the terminal.
func (f surfaces) Claim(ctx context.Context, id string) (string, bool) {
	return f.s.app.link.Claim(ctx, id)
}

// Release shows it everywhere again.
func (f surfaces) Release(ctx context.Context, id, text string) { f.s.app.link.Release(ctx, id, text) }
