// Package setup gathers the parts of a session in a folder before it begins: the configuration,
// with the additions of the user and of the project. It guarantees that nothing of a project is
// used which the user has not allowed, and that nothing is run or contacted.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app/hooks"
	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/app/sources"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
)

// Setup holds the parts of a session.
type Setup struct {
	config.Config
	ProjectCommands map[string][]byte // by file, as they were trusted
	Untrusted       bool              // the project's files in .agent are not used, and nothing of the folder may run
	Instructions    Instructions
	ProjectServers  map[string]config.MCPServer // MCP servers of the project that the user allowed
	ServerChanged   func(name string) bool      // reports whether one of them is no longer as allowed; nil without any
	ProjectHooks    hooks.Project               // those that may run, besides those of the configuration
	Skills          []skills.Skill              // those that may be used
	SubAgents       []subagents.Definition      // those that may be used
	AskedTrust      bool                        // the user was asked whether to trust the project
	Sources         []sources.Source            // the files of settings, and the sources that are not used
	Notes           []string                    // for the user
}

// New returns the setup of a session with a configuration and nothing of the project's, except
// instructions that the user trusts.
func New(cfg config.Config) Setup {
	return Setup{Config: cfg, Instructions: Instructions{store: trust.Open(cfg.Home)}, Notes: cfg.Notes}
}

// Trusting is New with all instructions of the project, which is ours.
func Trusting(cfg config.Config) Setup {
	s := New(cfg)
	s.Instructions.use = allInstructions
	return s
}

// AsksAll reports whether commands that only read ask too.
func (s *Setup) AsksAll() bool { return s.Untrusted || s.SafeCommands == "ask" }

// Request tells which session to set up.
type Request struct {
	Over    config.Overrides
	Dir     string   // see Folder
	AddDirs []string // as they were given
	Trust   bool     // use the project's files, except its hooks, without asking
	Asker   Asker    // nil: nothing is used that has no answer yet
}

// Asker asks the person at the terminal, and saves the answer in the store.
type Asker interface {
	// Trust asks about the files of a project. before is the answer so far.
	Trust(ctx context.Context, cfg config.Config, s trust.Store, f trust.Found, before trust.Answer) (trusted bool, err error)
	// Server asks whether an MCP server of the project may start.
	Server(ctx context.Context, cfg config.Config, s trust.Store, p ProjectServer) (allowed bool, err error)
}

// UsageError is a mistake of the caller: in the arguments, the environment or the
// configuration.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }

// Folder returns the folder to work in, absolute, symlinks resolved. An empty dir is the
// current one.
func Folder(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		if at := (*fs.PathError)(nil); errors.As(err, &at) {
			err = at.Err
		}
		return "", UsageError{fmt.Errorf("cannot use the folder %s: %w", dir, err)}
	}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return "", UsageError{fmt.Errorf("%s is not a folder", dir)}
	}
	return abs, nil
}

// Load loads the configuration for a folder, and the additions of the project if the user
// trusts it.
func Load(ctx context.Context, r Request) (Setup, error) {
	cfg, err := config.Load(r.Over)
	if err != nil {
		return Setup{}, UsageError{err}
	}
	s := New(cfg)
	dir, err := Folder(r.Dir)
	if err != nil {
		return s, err
	}
	s.Dirs = append([]string{dir}, r.AddDirs...)
	found, err := look(dir, cfg.Home)
	if err != nil {
		s.Untrusted = true
		s.Notes = append(s.Notes, fmt.Sprintf("the project's .agent folder is not used: %v", err))
		s.useFiles(project{})
		return s, nil
	}
	trusted := r.Trust
	if r.Trust {
		s.Instructions.use = allInstructions
	} else if trusted, err = s.trusts(ctx, r.Asker, found.Found); err != nil {
		return s, err
	}
	return s.useFound(ctx, r, found, trusted)
}

// useFound returns the setup with everything of a project that the user trusts.
func (s Setup) useFound(ctx context.Context, r Request, found project, trusted bool) (Setup, error) {
	s.useFiles(found)
	s.useHooks(found)
	if trusted {
		s = s.useProject(r.Over, found.Dir, found.Found)
	} else {
		s.Untrusted = found.Configures()
	}
	err := s.useServers(ctx, r.Asker, found.Dir)
	s.findSources(found, trusted)
	return s, err
}

// useProject returns the setup with the commands and the configuration of a trusted
// project.
func (s Setup) useProject(over config.Overrides, dir string, found trust.Found) Setup {
	s.ProjectCommands = found.Texts()
	for _, l := range found.Left {
		s.Notes = append(s.Notes, "skipped in the project's commands: "+l)
	}
	if found.Config == nil {
		return s
	}
	with, left, err := config.LoadProject(over, config.Project{File: filepath.Join(dir, trust.ConfigFile), Data: found.Config})
	if err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("the project's configuration is not used: %v", err))
		return s
	}
	with.Dirs = s.Dirs
	s.Config = with
	for _, l := range left {
		s.Notes = append(s.Notes, "skipped in the project's configuration: "+l)
	}
	return s
}

// trusts reports whether the project may configure the program, and asks if there is no
// answer yet, about this or its instructions.
func (s *Setup) trusts(ctx context.Context, asker Asker, found trust.Found) (bool, error) {
	if found.Empty() {
		return false, nil
	}
	store := s.Instructions.store
	answer, err := store.Use(ctx, found)
	if err != nil {
		return false, err
	}
	if answer == trust.Refused {
		s.Instructions.use = noInstructions
		return false, nil
	}
	unapproved, err := store.Unapproved(ctx, found)
	if err != nil {
		return false, err
	}
	settled := answer == trust.Trusted || !found.Configures() && answer != trust.Replaced
	switch {
	case settled && len(unapproved) == 0:
	case asker != nil:
		s.AskedTrust = true
		trusted, err := asker.Trust(ctx, s.Config, store, found, before(answer, unapproved))
		if !trusted {
			s.Instructions.use = noInstructions
		}
		return trusted, err
	case answer == trust.Replaced:
		s.Instructions.use = noInstructions
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
func (s *Setup) noteUnused(answer trust.Answer) {
	const remedy = "; run agent trust add"
	switch answer {
	case trust.Trusted, trust.Refused:
	case trust.Changed:
		s.Notes = append(s.Notes, "the project's files in .agent have changed since you trusted them and are not used"+remedy)
	case trust.Replaced:
		s.Notes = append(s.Notes, "this is another folder than the one that you trusted here, so its files in .agent are not used"+remedy)
	case trust.Unknown:
		s.Notes = append(s.Notes, "the project's files in .agent are not used"+remedy)
	}
}
