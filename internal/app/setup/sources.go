package setup

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
func (s *Setup) findSources(found project, trusted bool) {
	add := func(kind sources.Kind, name, from string) {
		s.Sources = append(s.Sources, sources.Source{Kind: kind, Name: name, From: from})
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
		if !slices.ContainsFunc(s.Skills, func(used skills.Skill) bool { return used.Name == one.Name }) {
			add(sources.Skill, one.FileName(), sources.Unused)
		}
	}
	for _, d := range found.agents {
		if !slices.ContainsFunc(s.SubAgents, func(used subagents.Definition) bool { return used.Name == d.Name }) {
			add(sources.SubAgent, d.File, sources.Unused)
		}
	}
	if n := len(found.hooks.Hooks); n > 0 && len(s.ProjectHooks.Hooks) == 0 {
		add(sources.Hooks, fmt.Sprint(n), sources.Unused)
	}
	servers, _, _ := s.FindServers(found.Dir) // useServers has reported the notes and an error
	for _, one := range servers {
		switch _, used := s.ProjectServers[one.Name]; {
		case used:
		case one.Answer == trust.Refused:
			add(sources.Server, one.Name, sources.Refused)
		default:
			add(sources.Server, one.Name, sources.Unused)
		}
	}
}

// Survey returns the sources of a session that would start in the folder of r with the
// configuration cfg and further rules. It asks nothing, and saves, starts and contacts nothing. It
// returns an error if a rule is wrong: no session would start.
func Survey(ctx context.Context, r Request, cfg config.Config, more []Written) ([]sources.Source, error) {
	s, dir := New(cfg), r.Dir
	if found, err := look(dir, cfg.Home); err == nil {
		s = s.peek(ctx, r, found)
	}
	rules, err := s.PermissionRules(dir, more)
	prompt := modelcontext.New(modelcontext.Options{Dir: dir, Roots: []string{dir}, Home: cfg.Home, Trusted: s.Instructions.Trusted})
	return sources.Setup{
		Dir: dir, Config: s.Config, Rules: rules, Skills: s.Skills, SubAgents: s.SubAgents, Hooks: s.ProjectHooks,
		Servers: s.ProjectServers, More: s.Sources,
	}.List(prompt.Instructions(), nil), err
}

// peek is useFound with the answers so far, of which it saves nothing.
func (s Setup) peek(ctx context.Context, r Request, found project) Setup {
	answer, err := s.Instructions.store.Of(found.Found)
	switch {
	case r.Trust:
		answer, s.Instructions.use = trust.Trusted, allInstructions
	case err != nil, answer == trust.Refused, answer == trust.Replaced:
		s.Instructions.use = noInstructions
	}
	if derived, err := s.Instructions.store.Derived(found.Found); err == nil {
		s.Instructions.also = derived
	}
	r.Asker = nil
	s, _ = s.useFound(ctx, r, found, answer == trust.Trusted) // it asks nothing, so nothing fails
	return s
}
