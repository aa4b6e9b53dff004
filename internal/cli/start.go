package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/attachments"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/fileindex"
	"github.com/bb2d0cf4/agent/internal/app/idelink"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/app/usercommands"
	"github.com/bb2d0cf4/agent/internal/cli/doctor"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/early"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/plain"
	"github.com/bb2d0cf4/agent/internal/session"
)

// start opens a session, or answers one prompt.
func start(ctx context.Context, p Process, f *flags, over config.Overrides, args []string) error {
	prompt, err := f.check(args)
	if err != nil {
		return err
	}
	set, err := loadSetup(ctx, p, f, over, !f.prompted && talks(p))
	if err != nil {
		return err
	}
	if !f.prompted {
		set, suggest, err := completeSetup(ctx, p, f, over, set)
		if err != nil {
			return err
		}
		set.Notes = f.noted(set.Notes)
		return interact(ctx, p, f, set, prompt, suggest)
	}
	remarks(p, f.noted(set.Notes))
	set.Notes = nil
	ctx, stop := interruptible(ctx)
	defer stop()
	typed := prompt
	if prompt, err = expand(ctx, p, set, prompt); err != nil {
		return err
	}
	in := headless.Input{Silence: headless.Silence, Encoding: set.Encoding, Remark: func(line string) { remark(p, line) }}
	if !isTerminal(p.Stdin) {
		in.File = p.Stdin
	}
	if prompt, err = in.Append(ctx, prompt); err != nil {
		return err
	}
	return answer(ctx, p, f, set, prompt, typed)
}

// opening is a session that is about to begin before a person.
type opening struct {
	app.Options
	first   string // the first prompt; may be empty
	suggest string // a first prompt to suggest
	advise  bool   // print at the end how to resume the session
}

// choice returns the session that the flags name.
func (f *flags) choice() app.Choice {
	c := app.Choice{Dir: f.dir, AddDirs: f.addDirs, Session: f.resume, Latest: f.latest, Offer: f.resume == "" && !f.prompted, Rules: f.rules()}
	if f.resume == pick {
		c.Session = ""
	}
	return c
}

// interact opens a session for a person. first is the first prompt; it may be empty.
func interact(ctx context.Context, p Process, f *flags, set setup.Setup, first, suggest string) error {
	if f.resume == pick && !isTerminal(p.Stdin) {
		return usagef("there is no terminal to choose a session on: give --resume an id (agent sessions list shows all)")
	}
	prepared, err := app.Prepare(ctx, set, f.choice())
	if err != nil {
		return err
	}
	o := opening{prepared, first, suggest, true}
	if f.resume == pick {
		o.first = "/resume"
	}
	if isDumb(p) || set.Interface.ScreenReader {
		return interactPlain(ctx, p, o)
	}
	return interactScreen(ctx, p, o)
}

// interactPlain serves a terminal that can only print lines, or pipes. From a pipe the exit
// status tells the outcome of the last turn, as for one prompt.
func interactPlain(ctx context.Context, p Process, o opening) error {
	interrupts, release := eachInterrupt()
	defer release()
	a, err := p.open(o.Options)
	if err != nil {
		return err
	}
	slash := o.slash(p, a)
	if o.suggest != "" && o.first == "" {
		o.Notes = append(o.Notes, "Try: "+o.suggest)
	}
	title := "agent " + p.Version + ", " + o.Model.Ref + ", in " + a.Dir + "; type /help for the commands."
	ui := plain.New(plain.Options{
		In: p.Stdin, Out: p.Stdout, Notes: append([]string{title}, o.notesOf(a)...), First: o.first,
		Echo: !isTerminal(p.Stdin), Again: isTerminal(p.Stdin), Interrupt: interrupts, Labels: o.Interface.ScreenReader,
		Commands: slash, Served: commands.Served{ServerPrompts: commands.ServerPrompts{App: a}, Listed: slash}, Shell: a.Shell, Attach: a.Images.Attach, Status: a.Status, Today: a.Today,
	})
	var newest headless.Newest
	emit := func(ev session.Event) {
		newest.Add(ev)
		ui.Emit(ev)
	}
	a.Attach(app.Face{Emit: emit, Reviewer: ui, Editor: idelink.Face{Remark: ui.Remark}})
	begin(ctx, a, emit)
	early.EndRareGC()
	if err := errors.Join(ui.Run(ctx, a), a.Close()); err != nil || isTerminal(p.Stdin) {
		return err
	}
	return status(newest.Status())
}

// interactScreen serves a terminal that can draw.
func interactScreen(ctx context.Context, p Process, o opening) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	own, err := keys.Load(filepath.Join(o.Home, keys.File))
	if err != nil {
		o.Notes = append(o.Notes, fmt.Sprintf("%v; the rest of your keys is used", err))
	}
	a, err := p.open(o.Options)
	if err != nil {
		return err
	}
	slash := o.slash(p, a)
	files := fileindex.New(a.Root)
	names := &attachments.Names{Files: files.Finder(), Editor: a.Editor.Named, Resources: a.Resources.Names}
	shown := make(chan struct{})
	ui := repl.New(repl.Options{
		Shown: func() {
			close(shown)
			early.EndRareGC()
		},
		Terminal: o.terminal(p, own),
		Start:    repl.Start{Version: p.Version, Dir: a.Dir, Notes: o.notesOf(a), Prompt: o.first, Suggest: o.suggest},
		Status:   a.Status, NextMode: a.NextMode, NextEffort: a.NextEffort, Commands: slash, Served: commands.Served{ServerPrompts: commands.ServerPrompts{App: a}, Listed: slash}, Shell: a.Shell,
		ToBackground: a.ToBackground, Today: a.Today,
		Editor: a.External, Surfaces: a.Editor.Reviewer, Images: a.Images, Files: names.Find, Remark: files.Remark,
		History: repl.PromptHistory(o.Home, a.Dir),
	})
	a.Attach(app.Face{
		Emit: ui.Emit, Queued: ui.Queued, Reviewer: ui, Offered: ui.NamesChanged, Changed: ui.Refresh,
		Editor: idelink.Face{Remark: ui.Remark, Insert: ui.Insert, Refresh: ui.Refresh},
		Shown:  shown,
	})
	begin(ctx, a, ui.Emit)
	var work crash.Group
	walking, end := context.WithCancel(ctx)
	work.Go(func() {
		var once sync.Once
		files.Run(walking, func() {
			ui.NamesChanged()
			select {
			case <-shown:
				once.Do(debug.FreeOSMemory) // the first walk is the last part of the start
			case <-walking.Done():
			}
		})
	})
	err = ui.Run(ctx, a)
	end()
	work.Wait()
	err = errors.Join(err, a.Close())
	if o.advise && len(a.Messages()) > 0 {
		_, _ = fmt.Fprintln(p.Stdout, resume) // a terminal that is gone needs no advice
	}
	if errors.Is(err, context.Canceled) {
		return exitError(headless.ExitInterrupted)
	}
	return err
}

// resume is the last line of a session that has messages.
const resume = "Resume with: agent -c"

// begin reports an undo that a crash interrupted, and starts the session's services.
func begin(ctx context.Context, a *app.App, emit func(session.Event)) {
	if note := commands.Stopped(a.Root); note != "" {
		emit(session.Notice{Text: note})
	}
	a.Start(ctx)
}

// notesOf returns the notes to begin with: the files of instructions that the model is
// given, then the others.
func (o *opening) notesOf(a *app.App) []string {
	var lines []string
	for _, in := range a.Context.Instructions() {
		lines = append(lines, in.String())
	}
	return append(lines, o.Notes...)
}

// slash returns the slash commands of a, with those that people have written.
func (o *opening) slash(p Process, a *app.App) []command.Command {
	set := &commands.Set{App: a, Doctor: func(ctx context.Context, model string, out io.Writer) {
		opt := examination(p, a.Dir, out)
		opt.Sources = a.Sources()
		doctor.Run(ctx, opt, a.Config.With(model), nil)
	}}
	own, notes := ownCommands(o.Setup)
	o.Notes = append(o.Notes, notes...)
	return append(set.List(), commands.Composed(a, own)...)
}

// builtin returns the program's own slash commands, for their names.
func builtin() []command.Command {
	return append(repl.OwnCommands(), (&commands.Set{}).List()...)
}

// ownCommands returns the slash commands that the user wrote, and those of the project
// if it is trusted. The notes report files that were skipped.
func ownCommands(s setup.Setup) (own []command.Command, notes []string) {
	return usercommands.All(s.Home, s.ProjectCommands, s.Skills, builtin())
}
