// Package app is the program put together: the folder, the session and its
// store, the model, the tools, the permission policy and the link to an editor,
// for a face to drive. It guarantees that what it started is ended by Close, and
// that the session and the model in use can be asked for from any goroutine.
package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/clipboard"
	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/app/idelink"
	"github.com/bb2d0cf4/agent/internal/app/promptline"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	projectctx "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Face is what shows the conversation, as far as the rest has to know.
type Face struct {
	Emit      func(session.Event)
	Queued    func() []string
	Reviewers []confirm.Reviewer
	Link      *idelink.Options // what the face does for an editor; nil: none is used
	Env       []string         // added to the environment of commands
	Watchdog  []string         // see shell.Jobs.Watchdog; nil: none
}

// Place is the folder and the session that are worked on.
type Place struct {
	Dir     string // absolute, symlinks resolved
	Archive *archive.Archive
	Store   *archive.Store // the first one; Current is the one in use
	Note    string         // what the user should know of the choice; may be empty
}

// Options says what is put together.
type Options struct {
	Config  config.Config
	Place   Place
	AddDirs []string // further folders that may be read and changed
	Mode    permission.Mode
	Ref     config.Model
	Model   llm.Model // of Ref
	Face    Face
}

// App is the program put together. Its fields do not change; what may change
// while it runs is in now.
type App struct {
	Place
	Config config.Config
	Root   *workspace.Root
	Policy *permission.Policy
	Asked  *confirm.Controller // the only one: its questions come one at a time
	Prompt *projectctx.Builder
	Loop   *session.Loop
	Link   *idelink.Link // nil if no editor is used
	Said   Said

	jobs *shell.Jobs

	mu  sync.Mutex
	now struct {
		store *archive.Store
		model config.Model
		info  llm.Info
	}
}

// Said is what is added to what the user says.
type Said struct {
	Images  *promptline.Images
	Remarks promptline.Remarks

	editor *idelink.Prompts
	lines  *promptline.Lines
}

// New puts the program together. It owns the store from then on, if it returns
// no error.
func New(o Options) (*App, error) {
	cfg, face := o.Config, o.Face
	var a *App
	root, err := OpenRoot(cfg, o.Place.Dir, o.AddDirs, func(path string) workspace.Encoding {
		if a.Link == nil {
			return ""
		}
		return workspace.Encoding(a.Link.View.Encoding(path))
	})
	if err != nil {
		return nil, err
	}
	a = &App{Place: o.Place, Config: cfg, Root: root, jobs: shell.NewJobs(), Policy: permission.New(o.Mode)}
	a.jobs.Watchdog(face.Watchdog...)
	if face.Link != nil {
		l := *face.Link
		l.Config, l.Root, l.Session = cfg, root, o.Place.Store.ID()
		a.Link = idelink.New(l)
		face.Reviewers = a.Link.Reviewers(face.Reviewers)
	}
	a.Asked = confirm.NewController(a.Policy, face.Reviewers...)
	a.now.store = o.Place.Store
	a.allowSpill()
	a.remember(o.Ref, o.Model)
	a.Prompt = projectctx.New(a.told())
	a.Said.editor = &idelink.Prompts{Link: a.Link, Block: a.Prompt.Editor}
	env := shell.Environ(append(os.Environ(), face.Env...), cfg.SecretEnv())
	a.Said.Images = a.images(face.Emit, env)
	a.Said.lines = &promptline.Lines{Jobs: a.jobs, Emit: a.emit(face.Emit), Ran: a.ran(), Options: func() shell.Options {
		return shell.Options{Dir: root.Dir(), Env: env, SpillDir: a.spillDir()}
	}}
	a.Loop, err = session.New(session.Options{
		Model: o.Model, Tools: a.toolset(a.Asked, env),
		System: a.Prompt.System, Store: o.Place.Store, Limits: limits(cfg), CompactAt: cfg.Limits.CompactAt,
		Branch: a.Prompt.Branch, Emit: a.emit(face.Emit), Queued: face.Queued, BuildMessage: a.compose,
		SaveFull: keep(cfg.Home),
	})
	if err != nil {
		return nil, errors.Join(err, a.jobs.Close(), root.Close())
	}
	a.recall()
	return a, nil
}

// OpenRoot opens the folder that is worked on; asked, which may be nil, knows the
// encodings of files better than the configuration.
func OpenRoot(cfg config.Config, dir string, extra []string, asked func(path string) workspace.Encoding) (*workspace.Root, error) {
	root, err := workspace.Open(dir, workspace.Options{
		Extra: extra, Home: cfg.Home, Fallback: workspace.Encoding(cfg.Encoding), Asked: asked,
	})
	if err != nil {
		return nil, fmt.Errorf("open the folder %s: %w", dir, err)
	}
	return root, nil
}

// told is what the system prompt tells of.
func (a *App) told() projectctx.Options {
	o := projectctx.Options{Dir: a.Root.Dir(), Roots: a.Root.Roots(), Shell: shellName()}
	o.Editor, o.Apart = a.Link.Told()
	return o
}

// Run answers a prompt, which is expanded: an App is the conversation as a face
// drives it.
func (a *App) Run(ctx context.Context, prompt string) error {
	return a.Loop.Run(ctx, prompt)
}

// images are those that the user attaches; env is the environment of what reads the
// clipboard.
func (a *App) images(emit func(session.Event), env []string) *promptline.Images {
	return &promptline.Images{
		Dir:  a.Root.Dir(),
		Tell: func(note string) { emit(session.Notice{Text: note}) },
		Clip: func(ctx context.Context, limit int) ([]byte, error) { return clipboard.Image(ctx, env, limit) },
		Takes: func() (string, bool) {
			info := a.Info()
			return info.Name, info.Images
		},
	}
}

// Shell runs a command line that the user has typed; no turn may run.
func (a *App) Shell(ctx context.Context, line string) error { return a.Said.lines.Run(ctx, line) }

// ran keeps the lines that the user runs, for compactions to tell of.
func (a *App) ran() func(line, result string) {
	return func(line, result string) {
		a.Loop.RecordDeed(history.Deed{What: "Run " + line, Result: result + ", run by the user"})
	}
}

// recall has the model told what the user did after the newest message of the
// session, before the program ended.
func (a *App) recall() {
	for _, did := range a.Loop.UnsentDeeds() {
		a.Said.Remarks.Add("Since then, without you: " + did)
	}
}

// keep keeps what a session's compaction has no room for where the model can read it.
func keep(agentHome string) func(session, text string) (string, error) {
	return func(session, text string) (string, error) {
		file := filepath.Join(home.SpillDir(agentHome, session), "whole.md")
		return file, statefile.Write(file, []byte(text))
	}
}

// compose makes the message of a prompt: what the user did before goes with it, and
// what it names of the editor.
func (a *App) compose(ctx context.Context, prompt string) llm.Message {
	m := llm.Message{Role: llm.User}
	if remarks := a.Said.Remarks.Take(); remarks != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: remarks, Aside: true})
	}
	if ran := a.Said.lines.Take(); ran != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: ran, Aside: true})
	}
	m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: strings.ToValidUTF8(prompt, "\uFFFD")})
	m.Parts = append(m.Parts, a.Said.Images.Parts(prompt)...)
	if more := a.Said.editor.Suffix(ctx, prompt); more != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: strings.ToValidUTF8(more, "\uFFFD"), Aside: true})
	}
	return m
}

// Messages returns the conversation so far.
func (a *App) Messages() []llm.Message { return a.Loop.Messages() }

// Items returns the conversation with what the session keeps beside the messages.
func (a *App) Items() []history.Item { return a.Loop.Items() }

func (a *App) toolset(ask tools.Asker, env []string) session.Toolset {
	return a.Said.editor.Tools(tools.Deps{
		Root: a.Root, Ask: a.Link.Asker(ask), Jobs: a.jobs, Background: a.jobs, SpillDir: a.spillDir, Session: func() string { return a.Current().ID() }, Home: a.Config.Home,
		Env: env,
	})
}

// emit shows events to the face, and to the editor whether the model is at work.
func (a *App) emit(face func(session.Event)) func(session.Event) {
	if a.Link == nil {
		return face
	}
	return func(ev session.Event) {
		a.Link.Saw(ev)
		face(ev)
	}
}

// Info describes the model in use.
func (a *App) Info() llm.Info {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.info
}

// Current is the session in use.
func (a *App) Current() *archive.Store {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.store
}

// Use goes on with another session, without what was granted in this one; no turn
// may run.
func (a *App) Use(store *archive.Store) error {
	if err := a.Loop.Use(store); err != nil {
		return errors.Join(fmt.Errorf("leave the session: %w", err), store.Close())
	}
	a.Said.Remarks.Take() // they were about the other one
	a.Said.lines.Take()
	a.recall()
	a.mu.Lock()
	a.now.store = store
	a.mu.Unlock()
	a.Policy.Forget()
	err := a.Root.Outside().Forget()
	a.allowSpill()
	a.Link.Use(store.ID())
	return err
}

// spillDir is the folder for the long outputs of the session in use.
func (a *App) spillDir() string { return home.SpillDir(a.Config.Home, a.Current().ID()) }

// allowSpill lets the model read the long outputs of the session in use.
func (a *App) allowSpill() {
	if abs, _, _ := a.Root.Resolve(a.spillDir()); abs != "" {
		a.Root.Outside().AllowOwn(abs)
	}
}

// SetModel sends what follows to another model; no turn may run. The notes say what
// will not work with it.
func (a *App) SetModel(ctx context.Context, ref string) (notes []string, err error) {
	m, err := a.Config.Lookup(ref)
	if err != nil {
		return nil, err
	}
	m, notes = provider.Inspect(ctx, a.Config, m)
	model, err := provider.New(a.Config, m)
	if err != nil {
		return nil, err
	}
	a.Loop.SetModel(model)
	a.remember(m, model)
	return notes, nil
}

// remember keeps which model is in use, under the name that the user gave it.
func (a *App) remember(m config.Model, model llm.Model) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now.model, a.now.info = m, model.Info()
	a.now.info.Name = m.Ref
}

// Models lists what the provider in use offers.
func (a *App) Models(ctx context.Context) ([]provider.Offer, error) {
	a.mu.Lock()
	m := a.now.model
	a.mu.Unlock()
	return provider.Offers(ctx, a.Config, m)
}

// Leave ends the link to the editor by unlink and, at the same time, the commands in
// the background: neither waits for the other.
func (a *App) Leave(unlink func()) {
	var work crash.Group
	work.Go(func() { _ = a.jobs.Close() }) // Close returns the error again
	unlink()
	work.Wait()
}

// Close ends what the program started.
func (a *App) Close() error {
	return errors.Join(a.jobs.Close(), a.Current().Close(), a.Root.Close(),
		home.PruneSpill(a.Config.Home, time.Now().Add(-home.SpillAge)))
}

func limits(cfg config.Config) session.Limits {
	return session.Limits{
		MaxTurns: cfg.Limits.MaxTurns, MaxTokens: cfg.Limits.MaxTokens, MaxCostUSD: cfg.Limits.MaxCostUSD,
	}
}

func shellName() string {
	if runtime.GOOS == "windows" {
		return "cmd"
	}
	return "bash"
}
