package cli

import (
	"context"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/answerschema"
	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/app/usercommands"
	"github.com/bb2d0cf4/agent/internal/early"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/session"
)

// expand returns the text of the user's own command that prompt names, or prompt.
func expand(ctx context.Context, p Process, set setup.Setup, prompt string) (string, error) {
	name, question, ok := command.Split(prompt)
	switch {
	case !ok:
		return prompt, nil
	case name == asideName && question == "":
		return "", usagef("/btw needs a question: agent -c -p \"/btw which file was it?\"")
	case name == asideName:
		return prompt, nil
	}
	if server, _, ok := strings.Cut(name, ":"); ok && set.HasServer(server) {
		return "", usagef("/%s is a prompt of an MCP server, which is shown before it is sent: use it in a session", name)
	}
	own, notes := ownCommands(set)
	remarks(p, notes)
	text, err := usercommands.InPlace(ctx, prompt, own, builtin())
	if err != nil {
		return "", usageError{Err: err}
	}
	return text, nil
}

// asideName is the command that asks a side question.
const asideName = "btw"

// aside answers a side question as a turn of its own.
type aside struct {
	*app.App
	emit func(session.Event)
}

// Run implements headless.Runner.
func (a aside) Run(ctx context.Context, question string) error {
	a.emit(session.RequestStarted{Round: 1})
	text, err := a.Aside(ctx, question)
	if err == nil {
		a.emit(session.TextDelta{Text: text})
	}
	return err
}

// answer runs one prompt, which holds more than the person typed. Without an editor there is
// nobody to ask.
func answer(ctx context.Context, p Process, f *flags, set setup.Setup, prompt, typed string) error {
	set.IDE.Enabled = set.IDE.Enabled && f.ide
	var schema *answerschema.Schema
	if f.schema != "" {
		var err error
		if schema, err = answerschema.Load(f.schema); err != nil {
			return usagef("--json-schema %s: %v", f.schema, err)
		}
	}
	name, question, _ := command.Split(prompt)
	if name == asideName && schema != nil {
		return usagef("--json-schema is for prompts: a side question (/btw) is answered in words")
	}
	o, err := app.Prepare(ctx, set, f.choice())
	if err != nil {
		return err
	}
	o.Answer = schema
	remarks(p, o.Notes)
	o.Unattended = true
	a, err := p.open(o)
	if err != nil {
		return err
	}
	face := headless.New(headless.Options{
		Format: headless.Format(f.format), SessionID: a.Current().ID(),
		Stdout: p.Stdout, Stderr: p.Stderr, StdoutTTY: isTerminal(p.Stdout), StderrTTY: isTerminal(p.Stderr),
		Schema: schema,
		Told:   o.Notes,
	})
	a.Attach(app.Face{Emit: longRun(face.Emit)})
	a.Resources.Composed(prompt, typed)
	if note := commands.Stopped(a.Root); note != "" {
		remark(p, note)
	}
	if note := a.LeftOut(); note != "" {
		remark(p, note)
	}
	a.Start(ctx)
	if warning := a.Editor.Wait(ctx); warning != "" {
		remark(p, warning)
	}
	var code int
	if name == asideName {
		code = face.Run(ctx, aside{a, face.Emit}, question)
	} else {
		code = face.Run(ctx, a, a.Images.AttachWords(prompt, typed))
	}
	if err := a.Close(); err != nil {
		return err
	}
	return status(code)
}

// longRun returns emit, which makes garbage collections as frequent as usual from the first result of a tool on: the garbage of a
// run that goes on would take megabytes.
func longRun(emit func(session.Event)) func(session.Event) {
	var once sync.Once
	return func(ev session.Event) {
		if _, ok := ev.(session.CallEnded); ok {
			once.Do(early.EndRareGC)
		}
		emit(ev)
	}
}
