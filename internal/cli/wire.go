package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/cli/home"
	"github.com/bb2d0cf4/agent/internal/cli/idelink"
	"github.com/bb2d0cf4/agent/internal/cli/provider"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	projectctx "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// surface is what a face gives to the rest.
type surface struct {
	emit      func(session.Event)
	queued    func() []string
	reviewers []confirm.Reviewer
	link      *idelink.Options // what the face does for an editor; nil: none is used
	env       []string         // added to the environment of commands
}

// place is the folder and the session that are worked on.
type place struct {
	dir     string // absolute, symlinks resolved
	archive *session.Archive
	store   *session.Store
}

// openStore finds the session to continue, or makes a new one.
func openStore(cfg config.Config, f *flags, model string) (place, error) {
	dir, err := workDir(f.dir)
	if err != nil {
		return place{}, err
	}
	pl := place{dir: dir, archive: session.NewArchive(cfg.Home)}
	switch {
	case f.latest:
		pl.store, err = pl.archive.Latest(dir)
		if errors.Is(err, session.ErrNoSession) {
			err = fmt.Errorf("there is no session in %s to continue; agent starts one", dir)
		}
	case f.resume != "" && f.resume != pick:
		pl.store, err = pl.archive.Open(f.resume)
		if errors.Is(err, session.ErrNoSession) {
			err = fmt.Errorf("there is no session %s; agent sessions list shows them", f.resume)
		}
	default:
		pl.store = pl.archive.Create(dir, model)
	}
	return pl, err
}

// app is the program put together. Its fields do not change; what may change
// while it runs is in now.
type app struct {
	place
	cfg     config.Config
	root    *workspace.Root
	jobs    *shell.Jobs
	policy  *permission.Policy
	asked   *confirm.Controller // asks the user whatever the policy says
	prompt  *projectctx.Builder
	loop    *session.Loop
	link    *idelink.Link // nil if no editor is used
	prompts *idelink.Prompts

	mu  sync.Mutex
	now struct {
		store *session.Store
		model config.Model
		info  llm.Info
	}
}

// wire puts the program together. It owns the store from then on, if it
// returns no error.
func wire(cfg config.Config, f *flags, pl place, m config.Model, face surface) (*app, error) {
	mode, err := permission.ParseMode(cfg.PermissionMode)
	if err != nil {
		return nil, usageError{err}
	}
	model, err := provider.New(cfg, m)
	if err != nil {
		return nil, usageError{err}
	}
	root, err := openRoot(cfg, pl.dir, f.addDirs)
	if err != nil {
		return nil, err
	}
	a := &app{place: pl, cfg: cfg, root: root, jobs: shell.NewJobs(), policy: permission.New(mode)}
	if face.link != nil {
		o := *face.link
		o.Config, o.Root, o.Session = cfg, root, pl.store.ID()
		a.link = idelink.New(o)
		face.reviewers = a.link.Reviewers(face.reviewers)
	}
	a.asked = confirm.NewController(nil, face.reviewers...)
	a.now.store = pl.store
	a.remember(m, model)
	a.prompt = projectctx.New(a.told())
	a.prompts = &idelink.Prompts{Link: a.link, Block: a.prompt.Editor}
	a.loop, err = session.New(session.Options{
		Model: model, Tools: a.toolset(confirm.NewController(a.policy, face.reviewers...), face.env),
		System: a.prompt.System, Store: pl.store, Limits: limits(cfg), Emit: a.emit(face.emit), Queued: a.prompts.Queued(face.queued),
	})
	if err != nil {
		return nil, errors.Join(err, a.jobs.Close(), root.Close())
	}
	return a, nil
}

func (a *app) toolset(ask tools.Asker, env []string) session.Toolset {
	id := a.store.ID()
	return a.prompts.Tools(tools.Deps{
		Root: a.root, Ask: ask, Jobs: a.jobs, Background: a.jobs, SpillDir: home.SpillDir(a.cfg.Home, id), Session: id, Home: a.cfg.Home,
		Env: shell.Environ(append(os.Environ(), env...), a.cfg.SecretEnv()),
	})
}

// emit shows events to the face, and to the editor whether the model is at work.
func (a *app) emit(face func(session.Event)) func(session.Event) {
	if a.link == nil {
		return face
	}
	return func(ev session.Event) {
		a.link.Saw(ev)
		face(ev)
	}
}

// info describes the model in use.
func (a *app) info() llm.Info {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.info
}

// current is the session in use.
func (a *app) current() *session.Store {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.store
}

// use goes on with another session; no turn may run.
func (a *app) use(store *session.Store) error {
	if err := a.loop.Use(store); err != nil {
		return errors.Join(fmt.Errorf("leave the session: %w", err), store.Close())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now.store = store
	return nil
}

// setModel sends what follows to another model; no turn may run.
func (a *app) setModel(ref string) error {
	m, err := a.cfg.Lookup(ref)
	if err != nil {
		return err
	}
	model, err := provider.New(a.cfg, m)
	if err != nil {
		return err
	}
	a.loop.SetModel(model)
	a.remember(m, model)
	return nil
}

// remember keeps which model is in use, under the name that the user gave it.
func (a *app) remember(m config.Model, model llm.Model) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now.model, a.now.info = m, model.Info()
	a.now.info.Name = m.Ref
}

// modelsTime bounds what /model waits for the provider's list.
const modelsTime = 10 * time.Second

// models lists what the provider in use offers, as provider/name.
func (a *app) models(ctx context.Context) ([]string, error) {
	a.mu.Lock()
	m := a.now.model
	a.mu.Unlock()
	if m.Provider == config.ScriptProvider {
		return []string{m.Ref}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, modelsTime)
	defer cancel()
	infos, err := provider.Client(a.cfg, m).ListModels(ctx)
	var names []string
	for _, i := range infos {
		names = append(names, m.Provider+"/"+i.ID)
	}
	return names, err
}

// close ends what the program started.
func (a *app) close() error {
	return errors.Join(a.jobs.Close(), a.current().Close(), a.root.Close(),
		home.PruneSpill(a.cfg.Home, time.Now().Add(-home.SpillAge)))
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
