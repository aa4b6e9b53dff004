package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/cli/idelink"
	"github.com/bb2d0cf4/agent/internal/confirm"
	projectctx "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// firstLink is how long a prompt without a screen waits for its editor.
const firstLink = 5 * time.Second

// connectEditor makes the link to an editor one of the face's reviewers. It is
// not linked before runLink.
func (a *app) connectEditor(face *surface) {
	if face.link == nil || !a.cfg.IDE.Enabled {
		return
	}
	o := *face.link
	o.Config, o.Root, o.Session = a.cfg, a.root, a.store.ID()
	a.link = idelink.New(o)
	face.reviewers = append(append([]confirm.Reviewer(nil), face.reviewers...), a.link)
}

// runLink keeps the link to an editor. The returned function ends it and waits
// for its end.
func (a *app) runLink(ctx context.Context) (end func()) {
	if a.link == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { a.link.Run(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

// describePrompt is what the model is told beside the conversation.
func (a *app) describePrompt(ctx context.Context) string {
	text := a.prompt.System(ctx)
	if a.link != nil && a.cfg.IDE.Context.Place == "message" {
		text += "\nWith the newest message:\n" + a.prompt.Editor(ctx)
	}
	return text
}

// awaitEditor waits for the editor that is to answer, and says what it means if
// there is none.
func (a *app) awaitEditor(ctx context.Context) (warning string) {
	if a.link == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, firstLink)
	defer cancel()
	if a.link.Await(ctx) {
		return ""
	}
	why := a.link.Status().Why
	if why == "" {
		why = ide.ErrNoEditor.Error()
	}
	return why + ": what needs an answer will be denied (agent ide status says more)"
}

// told is what the system prompt tells of.
func (a *app) told() projectctx.Options {
	o := projectctx.Options{Dir: a.root.Dir(), Roots: a.root.Roots(), Shell: shellName()}
	if a.link != nil {
		o.Editor, o.Apart = a.link, a.cfg.IDE.Context.Place == "message"
	}
	return o
}

// withEditor returns the tools, which know what the editor knows.
func (a *app) withEditor(d tools.Deps) session.Toolset {
	if a.link == nil {
		return tools.NewSet(d)
	}
	d.Diagnostics, d.Buffers, d.Reports = a.link, a.link, a.link
	return idelink.Toolset{
		Set: tools.NewSet(d), Link: a.link,
		Block: func(ctx context.Context) string { return a.prompt.Editor(ctx) },
	}
}

// queued expands what was typed during a turn.
func (a *app) queued(take func() []string) func() []string {
	if a.link == nil || take == nil {
		return take
	}
	return func() []string {
		texts := take()
		for i, t := range texts {
			texts[i] = a.link.Expand(t)
		}
		return texts
	}
}

// conversation is the session as a face drives it: prompts are expanded.
type conversation struct{ *app }

// Run answers a prompt.
func (c conversation) Run(ctx context.Context, prompt string) error {
	if c.link != nil {
		prompt = c.link.Aside(ctx, c.link.Expand(prompt), c.prompt.Editor)
	}
	return c.loop.Run(ctx, prompt)
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

// ide serves /ide.
func (s *screenFace) ide(ctx context.Context, args string) (string, error) {
	if s.app.link == nil {
		return "", errors.New("editors are switched off: --no-ide was given, or ide.enabled is false")
	}
	return s.app.link.Command(ctx, args)
}

// paths are what @ completes: files, and the editor's selection.
func (s *screenFace) paths() []string {
	known := s.files.paths()
	if s.app.link == nil || s.app.link.Selection() == nil {
		return known
	}
	return append([]string{"selection"}, known...)
}

// surfaces are the other places of a question. The link is made after the screen.
type surfaces struct{ s *screenFace }

// Claim takes a question for the terminal.
func (f surfaces) Claim(ctx context.Context, id string) (string, bool) {
	if f.s.app.link == nil {
		return "", false
	}
	return f.s.app.link.Claim(ctx, id)
}

// Release shows it everywhere again.
func (f surfaces) Release(ctx context.Context, id, text string) {
	if f.s.app.link != nil {
		f.s.app.link.Release(ctx, id, text)
	}
}
