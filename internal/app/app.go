// Package app is a session with the services that it needs under any face: the
// folder, the conversation and its file, the model, the tools, the permission policy,
// hooks, MCP servers, sub-agents, checks and the link to an editor. It guarantees that
// New starts nothing that Close does not end, that nothing is asked before a face is
// attached, and that the session and the model in use can be read from any goroutine.
package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/answerschema"
	"github.com/bb2d0cf4/agent/internal/app/attachments"
	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/app/idelink"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/app/sources"
	"github.com/bb2d0cf4/agent/internal/app/spending"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/check"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// Place is the folder and the session to work on.
type Place struct {
	Dir     string // absolute, symlinks resolved
	Archive *archive.Archive
	Store   *archive.Store // the session to begin with; Current returns the one in use
}

// Options configures an App.
type Options struct {
	setup.Setup
	Place      Place
	AddDirs    []string // further folders that may be read and changed
	Rules      permission.Rules
	Model      config.Model
	Version    string       // of this program
	Env        []string     // added to the environment of commands
	Watchdog   []string     // see shell.Jobs.Watchdog
	Unattended bool         // nobody is at a terminal
	Servers    []mcp.Server // besides those of the configuration and the project
	Host       workspace.Host
	Answer     *answerschema.Schema // of the last answer of a turn; nil for one in words
	// Commands returns the runner of the commands that a turn waits for, from our own;
	// secrets names variables that they do not get. Nil is our own.
	Commands func(here tools.Commands, secrets []string) tools.Commands
}

// Face is a user interface, as far as a session needs one.
type Face struct {
	// Emit shows an event. It is called from several goroutines; the events of the
	// conversation come in order. It must not block for long.
	Emit func(session.Event)
	// Queued takes the prompts that were typed while a turn runs; nil: none are.
	Queued func() []string
	// Reviewer answers questions; nil: nobody does.
	Reviewer confirm.Reviewer
	// Offered is called, from any goroutine, when the resources or prompts of an MCP server may
	// have changed; nil: the face lists none.
	Offered func()
	// Changed is called, from any goroutine, when a command in the background has begun or ended;
	// nil: the face does not show it.
	Changed func()
	// Editor shows the reports of a linked editor.
	Editor idelink.Face
	// Shown is closed when the face is on the screen: MCP servers start then, so that they do
	// not delay it. Nil: they start at once.
	Shown <-chan struct{}
}

// App is a session with its services. Its exported fields do not change.
type App struct {
	Place
	Config    config.Config
	Root      *workspace.Root
	Policy    *permission.Policy
	Questions *confirm.Controller   // the only one: it asks one question at a time
	Context   *modelcontext.Builder // writes the system prompt
	Loop      *session.Loop
	Editor    *idelink.Link
	Servers   *mcp.Servers
	SubAgents *subagents.Crew
	Images    *attachments.Images
	Resources *attachments.Resources
	Remarks   attachments.Remarks

	face      Face
	early     []session.Event // emitted before a face was attached
	jobs      *shell.Jobs
	effects   *effects.Tracker
	check     *check.Runner
	trials    *trials             // nil: no command runs in a copy first
	languages *langserver.Servers // nil: the model asks none
	lines     *attachments.Lines
	modeNews  *modeNews
	skills    []skills.Skill
	sources   sources.Setup
	hooked    *hooked
	answer    answering
	guidance  *guidance
	served    served
	tools     *tools.Set
	mine      mine
	start     archive.Start // of the session, as saved
	unlink    func()        // ends the link to the editor

	mu  sync.Mutex // guards now
	now struct {
		store   *archive.Store
		model   config.Model
		sends   llm.Model // the requests to model
		info    llm.Info
		system  string            // the latest system prompt of the session; "" before the first request
		efforts map[string]string // chosen in this session, by the model's name
	}
}

// New returns a session without a face, which asks and shows nothing yet. It owns the
// store of o.Place, which it closes if it fails.
func New(o Options) (*App, error) {
	mode, err := permission.ParseMode(o.PermissionMode)
	var model llm.Model
	if err == nil {
		model, err = provider.New(o.Config, o.Model)
	}
	if err != nil {
		return nil, errors.Join(setup.UsageError{Err: err}, o.Place.Store.Close())
	}
	return build(o, mode, model)
}

func build(o Options, mode permission.Mode, model llm.Model) (*App, error) {
	a := &App{Place: o.Place, Config: o.Config, skills: o.Skills, jobs: shell.NewJobs(), Policy: permission.New(mode, o.Rules...), unlink: func() {}}
	a.jobs.Encoding, a.jobs.Changed = shell.OutputEncoding(workspace.Encoding(o.Encoding)), func() { a.face.Changed() }
	a.sources = sources.Setup{
		Dir: o.Place.Dir, Config: o.Config, Rules: o.Rules, Skills: o.Skills, SubAgents: o.SubAgents, Hooks: o.ProjectHooks,
		Servers: o.ProjectServers, More: o.Sources,
	}
	a.now.store = o.Place.Store
	a.face = Face{Emit: func(ev session.Event) { a.early = append(a.early, ev) }, Queued: noPrompts, Changed: func() {}}
	var err error
	log := &auditor{
		log: audit.Open(o.Home), dir: o.Place.Dir, session: func() string { return a.Current().ID() },
		warn: func(note string) { a.emit(session.Notice{Text: note}) },
	}
	changed := func(ctx context.Context, f workspace.File, by workspace.Origin) {
		log.committed(ctx, f, by)
		a.languages.Changed(f.Path)
	}
	a.Root, err = openRoot(o.Config, o.Place.Dir, o.AddDirs, a.encoding, o.Host, func(ctx context.Context, f workspace.File, by workspace.Origin) {
		changed(ctx, f, by)
		a.effects.Wrote(f)
	})
	if err != nil {
		return nil, errors.Join(err, o.Place.Store.Close())
	}
	a.effects, a.mine.committed = effects.New(a.Root, effects.Options{Home: o.Home, Include: o.UndoIgnored, Changed: changed}), changed
	a.now.model, a.now.sends, a.now.info = o.Model, model, infoOf(o.Model, model)
	a.recallEfforts(o.Place.Store.Conversation())
	a.jobs.Watchdog(o.Watchdog...)
	a.Editor = idelink.New(idelink.Options{
		Config: o.Config, Root: a.Root, Version: o.Version, Session: o.Place.Store.ID(), Unattended: o.Unattended,
		Linked: func() { a.Servers.Recheck() },
	})
	a.guidance = &guidance{trust: o.Instructions, emit: a.emit}
	a.Questions = a.newQuestions(log)
	a.allowOwn()
	a.Context = modelcontext.New(modelcontext.Options{
		Dir: a.Root.Dir(), Roots: a.Root.Roots(), Shell: shell.In(a.Root.Dir()).Name, Editor: a.Editor.View, Place: modelcontext.Place(o.IDE.Context.Place),
		Home: o.Home, Trusted: o.Instructions.Trusted, Skills: a.offered(),
		Languages: func() bool { return a.languages.Serve() },
	})
	a.recallStart(o.Place.Store)
	a.guidance.begin(a.Context.Instructions())
	a.modeNews = &modeNews{policy: a.Policy, unattended: o.Unattended, stale: true, messages: func() []llm.Message { return a.Loop.Messages() }}
	env := append(shell.Environ(os.Environ(), o.SecretEnv(), o.EnvKeep...), o.Env...)
	a.languages = a.newLanguages(env, o.Untrusted)
	a.check, a.trials = a.newCheck(env, o.Untrusted), a.newTrials()
	a.Servers = a.newServers(o)
	a.hooked = a.newHooked(o, env)
	a.answer.schema = o.Answer
	a.Images = a.newImages(env)
	a.Resources = &attachments.Resources{Servers: a.Servers, Takes: a.Images.Takes, Tell: a.Images.Tell}
	a.lines = a.newLines(env)
	a.Loop, err = session.New(a.loopOptions(o, model, env))
	if err != nil {
		return nil, errors.Join(err, a.jobs.Close(), a.Root.Close(), o.Place.Store.Close())
	}
	a.recall()
	return a, nil
}

// newQuestions returns the controller of all questions, whose answers are logged.
func (a *App) newQuestions(log *auditor) *confirm.Controller {
	c := confirm.NewController(a.Policy)
	c.Answered = func(ctx context.Context, req confirm.Request, v confirm.Verdict, err error) {
		log.answered(ctx, req, v, err)
		if err == nil {
			a.answered(ctx, req, v)
		}
	}
	return c
}

// OpenRoot opens the folder dir without a session. warn is called, at most once, if the
// audit log cannot be written.
func OpenRoot(cfg config.Config, dir string, warn func(note string)) (*workspace.Root, error) {
	return openRoot(cfg, dir, nil, nil, workspace.Host{}, (&auditor{log: audit.Open(cfg.Home), dir: dir, warn: warn}).committed)
}

// openRoot opens the folder dir and the extra ones. encoding, which may be nil, returns a
// file's encoding in an editor, which counts more than the configuration; "" if it is
// unknown.
func openRoot(
	cfg config.Config,
	dir string,
	extra []string,
	encoding func(path string) workspace.Encoding,
	host workspace.Host,
	committed func(context.Context, workspace.File, workspace.Origin),
) (*workspace.Root, error) {
	root, err := workspace.Open(dir, workspace.Options{
		Extra: extra, Home: cfg.Home, Fallback: workspace.Encoding(cfg.Encoding), Asked: encoding, Host: host, Committed: committed,
	})
	if err != nil {
		return nil, fmt.Errorf("open the folder %s: %w", dir, err)
	}
	return root, nil
}

func (a *App) encoding(path string) workspace.Encoding {
	return workspace.Encoding(a.Editor.View.Encoding(path))
}

func (a *App) loopOptions(o Options, model llm.Model, env []string) session.Options {
	limits := o.Limits
	set := a.newTools(env, o)
	return session.Options{
		Model:    model,
		Tools:    set,
		Gathered: set,
		System:   a.system,
		Store:    o.Place.Store,
		Limits: session.Limits{
			MaxTurns:      limits.MaxTurns,
			MaxTime:       limits.MaxTime,
			MaxTokens:     limits.MaxTokens,
			MaxCostUSD:    limits.MaxCostUSD,
			MaxDayUSD:     limits.MaxDayUSD,
			MaxRequestUSD: limits.MaxRequestUSD,
			Unattended:    o.Unattended,
		},
		Spending:     spending.Open(o.Home, time.Now),
		Ask:          asker{a},
		CompactAt:    limits.CompactAt,
		Branch:       a.Context.Branch,
		Emit:         a.emit,
		Queued:       a.queued,
		Ending:       a.ending,
		Answer:       o.Answer.Text(),
		BuildMessage: a.message,
		SaveFull:     a.keep,
		Effort:       a.Effort,
		Mark:         a.Root.Mark,
		Checks: func() []string {
			if !o.Unattended || a.Policy.Mode() != permission.Bypass {
				return nil // somebody sees the changes, or would have to allow the commands
			}
			return a.Context.Checks()
		},
	}
}

// Attach connects the session to its face, which gets the earlier events. Call it once,
// before Start and Run.
func (a *App) Attach(f Face) {
	if f.Queued == nil {
		f.Queued = noPrompts
	}
	if f.Offered == nil {
		f.Offered = func() {}
	}
	if f.Changed == nil {
		f.Changed = func() {}
	}
	a.face = f
	a.Editor.Attach(f.Editor)
	if f.Reviewer != nil {
		a.Questions.Attach(f.Reviewer)
	}
	a.Editor.Review(a.Questions)
	for _, ev := range a.early {
		f.Emit(ev)
	}
	a.early = nil
}

// noPrompts is the Queued of a face without a prompt.
func noPrompts() []string { return nil }

// Start links an editor and connects the MCP servers and runs the hooks of the session's
// start in the background, until Close. Then it records the changes by a command during which
// an earlier session was killed.
func (a *App) Start(ctx context.Context) {
	a.unlink = a.Editor.Start(ctx)
	a.Servers.Start(ctx, a.face.Shown)
	a.hooked.open(ctx)
	a.hooked.begin(a.source())
	lines, err := a.effects.Recover(ctx)
	if err != nil {
		lines = append(lines, "Some changes of an interrupted command may be unknown: "+err.Error())
	}
	for _, line := range lines {
		a.emit(session.Notice{Text: line})
	}
}

// Close ends the link to the editor, the MCP servers and, at the same time, the commands
// in the background; then it closes the session and the folder.
func (a *App) Close() error {
	a.hooked.close()
	var work crash.Group
	work.Go(a.unlink)
	work.Go(a.Servers.Close)
	work.Go(a.languages.Close)
	err := errors.Join(a.jobs.Close(), a.check.Close(), a.trials.close())
	work.Wait()
	return errors.Join(err, a.effects.Close(), a.Current().Close(), a.Root.Close(), a.mine.close(), a.expireUndo(),
		home.PruneSpill(a.Config.Home, time.Now().Add(-home.SpillAge)))
}

// expireUndo deletes old content from the undo journal.
func (a *App) expireUndo() error {
	if a.Config.UndoDays == 0 {
		return nil
	}
	return workspace.ExpireUndo(a.Config.Home, time.Now().AddDate(0, 0, -a.Config.UndoDays))
}
