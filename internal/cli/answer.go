package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/answerschema"
	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/app/usercommands"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/early"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// maxStdin is how many bytes of standard input can be appended to a prompt.
const maxStdin = 8 << 20

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

// patience is how long standard input may stay silent before a remark explains the
// wait: programs that start this one may leave it open by mistake.
const patience = 3 * time.Second

// silence is how long standard input may stay open without a byte if there is a prompt without it.
const silence = 15 * time.Second

// firstByte calls began when something has been read.
type firstByte struct {
	io.Reader
	began func()
}

// Read implements io.Reader.
func (f firstByte) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if n > 0 {
		f.began()
	}
	return n, err
}

// withStdin appends standard input to the prompt, unless it is a terminal. It waits for
// its end until ctx ends, or goes on with the prompt alone if nothing comes within limit. Lines that
// are not UTF-8 are in the given encoding.
func withStdin(ctx context.Context, p Process, prompt string, limit time.Duration, encoding string) (string, error) {
	if p.Stdin == nil || isTerminal(p.Stdin) {
		return needPrompt(prompt)
	}
	if _, err := p.Stdin.Stat(); err != nil {
		return needPrompt(prompt) // a closed standard input is an empty one
	}
	type input struct {
		data []byte
		err  error
	}
	got := make(chan input, 1)
	none := time.NewTimer(limit)
	defer none.Stop()
	if strings.TrimSpace(prompt) == "" {
		none.Stop()
	}
	go func() { // a read that blocks for ever ends with the program
		defer crash.Guard()
		data, err := regularfile.ReadAll(firstByte{p.Stdin, func() { none.Stop() }}, maxStdin)
		got <- input{data, err}
	}()
	silent := time.AfterFunc(patience, crash.Guarded(func() { remark(p, "waiting for standard input to end; add </dev/null to use none") }))
	defer silent.Stop()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-none.C:
		remark(p, "nothing came on standard input within "+limit.String()+", so the prompt goes without it; if a program before the | is slower, write its output to a file first")
		return needPrompt(prompt)
	case i := <-got:
		if errors.Is(i.err, regularfile.ErrTooLarge) {
			return "", usagef("standard input is larger than %d MiB; name the file in the prompt instead", maxStdin>>20)
		}
		if i.err != nil {
			return "", fmt.Errorf("read standard input: %w", i.err)
		}
		got := strings.TrimSpace(text.Output(i.data, text.Encoding(encoding)))
		return needPrompt(strings.TrimSpace(prompt + "\n\n" + got))
	}
}

func needPrompt(prompt string) (string, error) {
	if strings.TrimSpace(prompt) == "" {
		return "", usagef("the prompt is empty: give it after -p, or on standard input")
	}
	return prompt, nil
}
