package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/fileindex"
	"github.com/bb2d0cf4/agent/internal/app/idelink"
	"github.com/bb2d0cf4/agent/internal/cli/commands"

	"github.com/bb2d0cf4/agent/internal/app/promptline"
	"github.com/bb2d0cf4/agent/internal/app/usercommands"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	projectctx "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/repl/desktop"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/plain"
	"github.com/bb2d0cf4/agent/internal/session"
)

// interact opens a session for a person. first is a prompt to begin with; it
// may be empty.
func interact(ctx context.Context, p Process, f *flags, set setup, first string) error {
	dumb, cfg := isDumb(p), set.Config
	if f.resume == pick && !isTerminal(p.Stdin) {
		return usagef("there is no terminal to choose on: give --resume an id; agent sessions list shows them")
	}
	model, notes, err := choose(ctx, cfg)
	if err != nil {
		return err
	}
	pl, err := openStore(cfg, f, model.Ref)
	if err != nil {
		return err
	}
	o := opening{flags: f, cfg: cfg, place: pl, model: model, first: first, projects: set.commands, suggest: set.suggest, resume: true}
	o.notes = append(append(instructions(pl.Dir), set.notes...), notes...)
	if !f.latest && f.resume == "" {
		pl.Note = offer(pl.Archive, pl.Dir)
	}
	if pl.Note != "" {
		o.notes = append(o.notes, pl.Note)
	}
	if f.resume == pick {
		o.first = "/resume"
	}
	if dumb || cfg.Interface.ScreenReader {
		return interactPlain(ctx, p, o)
	}
	if o.keys, err = keys.Load(filepath.Join(cfg.Home, keys.File)); err != nil {
		o.notes = append(o.notes, fmt.Sprintf("%v; the rest of your keys is used", err))
	}
	return interactScreen(ctx, p, o)
}

// instructions lists the files of instructions that the model is given.
func instructions(dir string) []string {
	var lines []string
	for _, in := range projectctx.New(projectctx.Options{Dir: dir}).Instructions() {
		lines = append(lines, in.String())
	}
	return lines
}

// interactPlain serves a terminal that can only print lines.
func interactPlain(ctx context.Context, p Process, o opening) error {
	ch, release := eachInterrupt()
	defer release()
	slash := newSlash(p, &o)
	if o.suggest != "" && o.first == "" {
		o.notes = append(o.notes, "Try: "+o.suggest)
	}
	var a *app.App // put together with the face; it runs after that
	ui := plain.New(plain.Options{
		In: p.Stdin, Out: p.Stdout, Notes: append([]string{plainTitle(p, o)}, o.notes...), First: o.first, Echo: !isTerminal(p.Stdin), Again: isTerminal(p.Stdin), Interrupt: ch,
		Labels:   o.cfg.Interface.ScreenReader,
		Commands: append(slash.List(), o.own...),
		Shell:    func(ctx context.Context, line string) error { return a.Shell(ctx, line) },
		Attach:   func(path string) (string, bool) { return a.Said.Images.Attach(path) },
	})
	var err error
	a, err = wire(o.cfg, o.flags, o.place, o.model, app.Face{
		Emit: ui.Emit, Reviewers: []confirm.Reviewer{ui}, Link: &idelink.Options{Version: p.Version, Remark: ui.Remark}, Watchdog: watchdog(p),
	})
	if err != nil {
		return errors.Join(err, o.place.Store.Close())
	}
	slash.App = a
	if note := commands.Stopped(a.Root); note != "" {
		ui.Emit(session.Notice{Text: note})
	}
	unlink := a.Link.Start(ctx)
	err = ui.Run(ctx, a)
	a.Leave(unlink)
	return errors.Join(err, a.Close())
}

// newSlash returns the commands of the program, and reads those that people have
// written.
func newSlash(p Process, o *opening) *commands.Set {
	cfg, f := o.cfg, o.flags
	s := &commands.Set{Doctor: func(ctx context.Context, model string, out io.Writer) { examine(ctx, p, f, cfg.With(model), nil, out) }}
	own, left := usercommands.All(cfg.Home, o.projects, append(repl.OwnCommands(), s.List()...))
	o.own, o.notes = own, append(o.notes, left...)
	return s
}

// opening is what a session with a person begins with.
type opening struct {
	flags *flags
	cfg   config.Config
	place app.Place
	model config.Model
	first string
	notes []string
	keys  keys.Map
	own   []command.Command // that people have written
	// projects are the commands of the folder, by their files, if it is trusted.
	projects map[string][]byte
	env      []string // added to that of the commands which the model runs
	suggest  string   // a first prompt, as there never was one
	resume   bool     // say at the end how to resume the session
}

// interactScreen serves a terminal.
func interactScreen(ctx context.Context, p Process, o opening) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	s := &screenFace{slash: newSlash(p, &o)}
	ui := repl.New(s.options(ctx, p, o))
	var err error
	s.app, err = wire(o.cfg, o.flags, o.place, o.model, app.Face{
		Emit: ui.Emit, Queued: ui.Queued, Reviewers: []confirm.Reviewer{ui}, Env: o.env,
		Link: &idelink.Options{Version: p.Version, Remark: ui.Remark, Insert: ui.Insert, Refresh: ui.Refresh}, Watchdog: watchdog(p),
	})
	if err != nil {
		return errors.Join(err, o.place.Store.Close())
	}
	s.slash.App = s.app
	if note := commands.Stopped(s.app.Root); note != "" {
		ui.Emit(session.Notice{Text: note})
	}
	files := fileindex.New(s.app.Root)
	s.names = &promptline.Names{Files: files.Finder(), Editor: s.app.Link.Named}
	walking, end := context.WithCancel(ctx)
	var work crash.Group
	work.Go(func() { files.Run(walking) })
	unlink := s.app.Link.Start(ctx)
	err = ui.Run(ctx, s.app)
	s.app.Leave(unlink)
	end()
	work.Wait()
	said := len(s.app.Messages()) > 0
	err = errors.Join(err, s.app.Close())
	if said && o.resume {
		_, _ = fmt.Fprintln(p.Stdout, resume) // a terminal that is gone needs no advice
	}
	if errors.Is(err, context.Canceled) {
		return exitError(headless.ExitInterrupted)
	}
	return err
}

// resume is the last line of a session in which something was said.
const resume = "Resume with: agent -c"

// options configures the screen. Its functions are called when the program is
// put together already.
func (s *screenFace) options(ctx context.Context, p Process, o opening) repl.Options {
	return repl.Options{
		Terminal: terminal(p, o),
		Start:    repl.Start{Version: p.Version, Dir: o.place.Dir, Notes: o.notes, Prompt: o.first, Suggest: o.suggest},
		Status:   s.status, Modes: modes{s}, Commands: append(s.slash.List(), o.own...),
		Shell:  func(ctx context.Context, line string) error { return s.app.Shell(ctx, line) },
		Editor: s.external, Surfaces: surfaces{s},
		Images:  pictures{s},
		Files:   func(query string) []string { return s.names.Find(query) },
		History: promptline.NewHistory(o.cfg.Home, o.place.Dir),
	}
}

// terminal is where the screen is drawn, and how.
func terminal(p Process, o opening) repl.Terminal {
	look := o.cfg.Interface
	return repl.Terminal{
		In: p.Stdin, Out: p.Stdout, Env: os.Environ(), Theme: look.Theme, Diff: look.Diff, Status: look.Status, Keys: o.keys, Vi: look.Vi,
		Still:  look.ReducedMotion || os.Getenv("REDUCE_MOTION") != "",
		Window: desktop.Options{Title: look.Title, Progress: look.Progress, Notify: look.Notify},
	}
}

// plainTitle is the first line of a session on plain lines.
func plainTitle(p Process, o opening) string {
	return "agent " + p.Version + ", " + o.model.Ref + ", in " + o.place.Dir + "; /help says what there is."
}
