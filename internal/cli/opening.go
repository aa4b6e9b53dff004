package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/usercommands"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// opening is a session that is about to begin.
type opening struct {
	setup
	place      app.Place
	model      config.Model
	rules      permission.Rules
	addDirs    []string
	env        []string     // added to the environment of commands
	first      string       // the first prompt; may be empty
	unattended bool         // nobody can answer questions
	servers    []mcp.Server // of the program that hosts the session
	host       workspace.Host
	commands   func(here tools.Commands, secrets []string) tools.Commands // see app.Options
	advise     bool                                                       // print at the end how to resume the session
}

// newOpening chooses the model and the session to begin with. The opening's notes are
// those of set, then those about these choices.
func newOpening(ctx context.Context, f *flags, set setup) (opening, error) {
	o := opening{setup: set}
	for _, name := range f.addDirs {
		dir, err := workDir(name)
		if err != nil {
			return o, err
		}
		o.addDirs = append(o.addDirs, dir)
	}
	model, notes, err := choose(ctx, set.Config)
	if err != nil {
		return o, err
	}
	place, note, err := openPlace(set.Config, f, model.Ref)
	if err != nil {
		return o, err
	}
	o.model, o.place = model, place
	if o.rules, err = permissionRules(set.Config, place.Dir, f); err != nil {
		return o, errors.Join(err, place.Store.Close())
	}
	o.notes = append(o.notes, notes...)
	if note != "" {
		o.notes = append(o.notes, note)
	}
	return o, nil
}

// choose picks the model; a missing model is a usage error. The notes warn the user before
// the first request.
func choose(ctx context.Context, cfg config.Config) (m config.Model, notes []string, err error) {
	if m, err = provider.Choose(cfg); err != nil {
		return m, nil, usageError{err}
	}
	m, notes = provider.Inspect(ctx, cfg, m)
	return m, notes, nil
}

// openPlace finds the session to continue, or makes a new one. The note, which may be
// empty, tells the user about the choice.
func openPlace(cfg config.Config, f *flags, model string) (pl app.Place, note string, err error) {
	dir, err := workDir(f.dir)
	if err != nil {
		return app.Place{}, "", err
	}
	pl = app.Place{Dir: dir, Archive: archive.New(cfg.Home)}
	switch {
	case f.latest:
		var open int
		if pl.Store, open, err = pl.Archive.Latest(dir); err == nil && open > 0 {
			note = fmt.Sprintf("%s: this is the newest free one.", opened(open))
		}
		if errors.Is(err, archive.ErrNoSession) {
			err = fmt.Errorf("no session in %s to continue; start one with agent", dir)
		}
	case f.resume != "" && f.resume != pick:
		pl.Store, err = pl.Archive.Open(f.resume)
		if errors.Is(err, archive.ErrNoSession) {
			err = fmt.Errorf("no session %s; agent sessions list shows all", f.resume)
		}
	default:
		pl.Store = pl.Archive.Create(dir, model)
		if f.resume == "" && !f.prompted {
			note = unfinished(pl.Archive, dir)
		}
	}
	return pl, note, err
}

// unfinished offers to continue the newest session of the folder if it ended in the
// middle of a turn; else it returns "".
func unfinished(sessions *archive.Archive, dir string) string {
	left := sessions.FindUnfinished(dir)
	if left == nil {
		return ""
	}
	when := "in the middle of a turn"
	if left.Call != nil && left.Undecided {
		when = "before you answered about " + named(*left.Call)
	} else if left.Call != nil {
		when = "before " + named(*left.Call) + " was done"
	}
	return "The last session here ended " + when + ": agent -c continues it."
}

// named describes a call in a few words.
func named(c llm.ToolCall) string {
	args := struct{ Path, Command string }{}
	_ = json.Unmarshal([]byte(c.Args), &args) // without them the name is enough
	return sanitize.Line(archive.Clip(c.Name+" "+cmp.Or(args.Path, args.Command), 80))
}

// opened describes the n newest sessions, which are in use.
func opened(n int) string {
	if n == 1 {
		return "The newest session is open in another process"
	}
	return fmt.Sprintf("The %d newest sessions are open in other processes", n)
}

// session builds the session. It owns the store of o.place, also if it fails.
func (o *opening) session(p Process) (*app.App, error) {
	mode, err := permission.ParseMode(o.PermissionMode)
	if err != nil {
		return nil, errors.Join(usageError{err}, o.place.Store.Close())
	}
	model, err := provider.New(o.Config, o.model)
	if err != nil {
		return nil, errors.Join(usageError{err}, o.place.Store.Close())
	}
	return app.New(app.Options{
		Config:         o.Config,
		Place:          o.place,
		AddDirs:        o.addDirs,
		Mode:           mode,
		Rules:          o.rules,
		Ref:            o.model,
		Model:          model,
		Version:        p.Version,
		Env:            o.env,
		Watchdog:       watchdog(p),
		Unattended:     o.unattended,
		AskAll:         o.asksAll(),
		Untrusted:      o.untrusted,
		ProjectServers: o.projectServers,
		ServerChanged:  o.serverChanged,
		Servers:        o.servers,
		Host:           o.host,
		Commands:       o.commands,
		Instructions:   o.instructions,
		Skills:         o.skills,
		ProjectHooks:   o.projectHooks,
		Seen:           o.instructions.store.Seen,
		See:            o.see,
		SubAgents:      o.subAgents,
		Sources:        o.sources,
	})
}

// builtin returns the program's own slash commands, for their names.
func builtin() []command.Command {
	return append(repl.OwnCommands(), (&commands.Set{}).List()...)
}

// ownCommands returns the slash commands that the user wrote, and those of the project
// if it is trusted. The notes report files that were skipped.
func (s *setup) ownCommands() (own []command.Command, notes []string) {
	return usercommands.All(s.Home, s.projectCommands, s.skills, builtin())
}
