package cli

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/app/sources"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
)

// findSources lists the files of settings, and the sources of the project that are not
// used.
func (s *setup) findSources(found project, trusted bool) {
	add := func(kind sources.Kind, name, from string) {
		s.sources = append(s.sources, sources.Source{Kind: kind, Name: name, From: from})
	}
	if _, err := os.Stat(s.File); err == nil {
		add(sources.Configuration, s.File, sources.Yours)
	}
	switch {
	case found.Config == nil:
	case trusted:
		add(sources.Configuration, trust.ConfigFile, sources.Trusted)
	default:
		add(sources.Configuration, trust.ConfigFile, sources.Unused)
	}
	for _, one := range found.skills {
		if !slices.ContainsFunc(s.skills, func(used skills.Skill) bool { return used.Name == one.Name }) {
			add(sources.Skill, one.FileName(), sources.Unused)
		}
	}
	for _, d := range found.agents {
		if !slices.ContainsFunc(s.subAgents, func(used subagents.Definition) bool { return used.Name == d.Name }) {
			add(sources.SubAgent, d.File, sources.Unused)
		}
	}
	if n := len(found.hooks.Hooks); n > 0 && len(s.projectHooks.Hooks) == 0 {
		add(sources.Hooks, fmt.Sprint(n), sources.Unused)
	}
	servers, _, _ := s.findServers(found.Dir) // useServers has reported the notes and an error
	for _, one := range servers {
		switch _, used := s.projectServers[one.Name]; {
		case used:
		case one.Answer == trust.Refused:
			add(sources.Server, one.Name, sources.Refused)
		default:
			add(sources.Server, one.Name, sources.Unused)
		}
	}
}

// survey returns the sources of a session that would start in dir. It asks nothing, and
// saves, starts and contacts nothing. It returns an error if a rule is wrong: no session
// would start.
func survey(ctx context.Context, f *flags, over config.Overrides, dir string, cfg config.Config) ([]sources.Source, error) {
	s := setup{Config: cfg}
	s.instructions.store = trust.Open(cfg.Home)
	if found, err := look(dir, cfg.Home); err == nil {
		s = s.peek(ctx, f, over, found)
	}
	rules, err := permissionRules(s.Config, dir, f)
	prompt := modelcontext.New(modelcontext.Options{Dir: dir, Roots: []string{dir}, Home: cfg.Home, Trusted: s.instructions.Trusted})
	return sources.Setup{
		Dir: dir, Config: s.Config, Rules: rules, Skills: s.skills, SubAgents: s.subAgents, Hooks: s.projectHooks,
		Servers: s.projectServers, More: s.sources,
	}.List(prompt.Instructions(), nil), err
}

// peek is useFound with the answers so far, of which it saves nothing.
func (s setup) peek(ctx context.Context, f *flags, over config.Overrides, found project) setup {
	answer, err := s.instructions.store.Of(found.Found)
	switch {
	case f.trust:
		answer, s.instructions.use = trust.Trusted, allInstructions
	case err != nil, answer == trust.Refused, answer == trust.Replaced:
		s.instructions.use = noInstructions
	}
	if derived, err := s.instructions.store.Derived(found.Found); err == nil {
		s.instructions.also = derived
	}
	s, _ = s.useFound(ctx, Process{}, over, found, answer == trust.Trusted, false) // it asks nothing, so nothing fails
	return s
}
