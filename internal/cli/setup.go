package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/hooks"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/app/sources"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/cli/firstrun"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
)

// setup is the configuration of a session.
type setup struct {
	config.Config
	projectCommands map[string][]byte // by file, as they were trusted
	untrusted       bool              // the project's files in .agent are not used
	instructions    instructions
	projectServers  map[string]config.MCPServer // MCP servers of the project that the user allowed
	serverChanged   func(name string) bool      // reports whether one of them is no longer as allowed; nil without any
	projectHooks    hooks.Project               // those that may run
	skills          []skills.Skill              // those that may be used
	subAgents       []subagents.Definition      // those that may be used
	askedTrust      bool                        // the user was asked whether to trust the project
	suggest         string                      // a first prompt to suggest
	sources         []sources.Source            // the files of settings, and the sources that are not used
	notes           []string                    // for the user
}

// asksAll reports whether commands that only read ask too.
func (s *setup) asksAll() bool { return s.untrusted || s.SafeCommands == "ask" }

// completeSetup asks for a model and its key if one is missing. It returns set unchanged
// if nothing is missing or there is nobody to ask.
func completeSetup(ctx context.Context, p Process, f *flags, over config.Overrides, set setup) (setup, error) {
	if !talks(p) {
		return set, nil
	}
	o := firstrun.Options{Terminal: dialogTerminal(p, set.Config), Config: set.Config, Screens: 3}
	if set.askedTrust {
		o.Screens--
	}
	m, unknown := set.Lookup(set.Model)
	var notes []string
	var err error
	switch {
	case set.Model == "":
		notes, err = firstrun.Model(ctx, o)
	case unknown != nil:
		return set, usageError{unknown}
	case provider.MissingKey(set.Config, m) != nil:
		notes, err = firstrun.Key(ctx, o, m)
	default:
		return set, firstrun.Servers(ctx, o.Terminal, allowedservers.Open(set.Home), m)
	}
	if err != nil {
		return set, err
	}
	again, err := loadSetup(ctx, p, f, over, false)
	again.notes = append(again.notes, notes...)
	if set.Model == "" {
		again.suggest = firstrun.Suggestion
	}
	return again, err
}

// loadSetup loads the configuration for a folder, and the project's own if the user
// trusts it. Unless asks is set it does not ask: without an earlier answer the
// project's files are not used.
func loadSetup(ctx context.Context, p Process, f *flags, over config.Overrides, asks bool) (setup, error) {
	cfg, err := loadConfig(over)
	if err != nil {
		return setup{}, err
	}
	s := setup{Config: cfg, notes: cfg.Notes}
	dir, err := workDir(f.dir)
	if err != nil {
		return s, err
	}
	s.Dirs = append([]string{dir}, f.addDirs...)
	s.instructions.store = trust.Open(s.Home)
	found, err := look(dir, cfg.Home)
	if err != nil {
		s.untrusted = true
		s.notes = append(s.notes, fmt.Sprintf("the project's .agent folder is not used: %v", err))
		s.useSkills(project{})
		s.useSubAgents(project{})
		return s, nil
	}
	trusted := f.trust
	if f.trust {
		s.instructions.use = allInstructions
	} else if trusted, err = trusts(ctx, p, &s, found.Found, asks); err != nil {
		return s, err
	}
	return s.useFound(ctx, p, over, found, trusted, asks)
}

// useFound returns the setup with everything of a project that the user trusts.
func (s setup) useFound(ctx context.Context, p Process, over config.Overrides, found project, trusted, asks bool) (setup, error) {
	s.useSkills(found)
	s.useSubAgents(found)
	s.useHooks(found)
	if trusted {
		s = s.useProject(over, found.Dir, found.Found)
	} else {
		s.untrusted = found.Configures()
	}
	err := s.useServers(ctx, p, found.Dir, asks)
	s.findSources(found, trusted)
	return s, err
}

// useProject returns the setup with the commands and the configuration of a trusted
// project.
func (s setup) useProject(over config.Overrides, dir string, found trust.Found) setup {
	s.projectCommands = found.Texts()
	for _, l := range found.Left {
		s.notes = append(s.notes, "skipped in the project's commands: "+l)
	}
	if found.Config == nil {
		return s
	}
	with, left, err := config.LoadProject(over, config.Project{File: filepath.Join(dir, trust.ConfigFile), Data: found.Config})
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("the project's configuration is not used: %v", err))
		return s
	}
	with.Dirs = s.Dirs
	s.Config = with
	for _, l := range left {
		s.notes = append(s.notes, "skipped in the project's configuration: "+l)
	}
	return s
}

// trusts reports whether the project may configure the program, and asks if there is no
// answer yet, about this or its instructions, and asks is set.
func trusts(ctx context.Context, p Process, s *setup, found trust.Found, asks bool) (bool, error) {
	if found.Empty() {
		return false, nil
	}
	store := s.instructions.store
	answer, err := store.Use(ctx, found)
	if err != nil {
		return false, err
	}
	if answer == trust.Refused {
		s.instructions.use = noInstructions
		return false, nil
	}
	unapproved, err := store.Unapproved(ctx, found)
	if err != nil {
		return false, err
	}
	settled := answer == trust.Trusted || !found.Configures() && answer != trust.Replaced
	switch {
	case settled && len(unapproved) == 0:
	case asks:
		s.askedTrust = true
		trusted, err := firstrun.Trust(ctx, dialogTerminal(p, s.Config), store, found, before(answer, unapproved))
		if !trusted {
			s.instructions.use = noInstructions
		}
		return trusted, err
	case answer == trust.Replaced:
		s.instructions.use = noInstructions
	}
	if found.Configures() {
		s.noteUnused(answer)
	}
	return answer == trust.Trusted, nil
}

// before returns the answer so far about a project with these unapproved instructions.
func before(answer trust.Answer, unapproved []trust.Instruction) trust.Answer {
	changed := slices.ContainsFunc(unapproved, func(in trust.Instruction) bool { return in.Changed })
	if answer == trust.Trusted || answer == trust.Unknown && changed {
		return trust.Changed
	}
	return answer
}

// noteUnused explains why the files in .agent are not used, if they are not.
func (s *setup) noteUnused(answer trust.Answer) {
	const remedy = "; review and allow them with agent trust add"
	switch answer {
	case trust.Trusted, trust.Refused:
	case trust.Changed:
		s.notes = append(s.notes, "the project's files in .agent have changed since you trusted them and are not used"+remedy)
	case trust.Replaced:
		s.notes = append(s.notes, "this is another folder than the one that you trusted here, so its files in .agent are not used"+remedy)
	case trust.Unknown:
		s.notes = append(s.notes, "the project's files in .agent are not used"+remedy)
	}
}

// dialogTerminal returns the terminal for a dialog.
func dialogTerminal(p Process, cfg config.Config) dialog.Terminal {
	return dialog.Terminal{
		In: p.Stdin, Out: p.Stdout, Env: os.Environ(), Theme: cfg.Interface.Theme, Flat: isDumb(p) || cfg.Interface.ScreenReader,
	}
}
