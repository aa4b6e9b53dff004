package setup

import (
	"context"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/hooks"
	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
)

// project is a folder with the files in it that need trust.
type project struct {
	trust.Found
	skills []skills.Skill
	agents []subagents.Definition
	hooks  hooks.Project
	notes  []string // about files that are left out
}

// Look finds the files in a folder that need trust.
func Look(dir, home string) (trust.Found, error) {
	found, err := look(dir, home)
	return found.Found, err
}

// look is Look with the content of the files.
func look(dir, home string) (found project, err error) {
	if found.Found, err = trust.Look(dir, home); err != nil {
		return found, err
	}
	for _, in := range modelcontext.Find(dir) {
		found.Instructions = append(found.Instructions, trust.Instruction{
			Path: in.Path, Name: in.Name, Size: in.Size, Hidden: in.Hidden, Hash: in.Hash,
		})
	}
	found.skills, found.notes = skills.OfProject(dir, home)
	for _, s := range found.skills {
		in := ofSkill(s).instruction()
		in.Skill = s.Description
		found.Instructions = append(found.Instructions, in)
	}
	agents, notes := subagents.OfProject(dir, home)
	found.agents, found.notes = agents, append(found.notes, notes...)
	for _, d := range agents {
		in := ofAgent(d).instruction()
		in.Agent = d.Summary()
		found.Instructions = append(found.Instructions, in)
	}
	list, notes := hooks.OfProject(dir, home)
	found.hooks, found.notes = list, append(found.notes, notes...)
	if len(list.Hooks) > 0 {
		found.Instructions = append(found.Instructions, trust.Instruction{Path: list.Path(), Name: list.Name, Hash: list.Hash, Hooks: list.Lines()})
	}
	return found, nil
}

// useHooks sets the project's hooks if the user has seen each of them and said yes, else it
// notes them: --trust is no such yes.
func (s *Setup) useHooks(found project) {
	s.Notes = append(s.Notes, hooks.Unmatched(s.Hooks)...)
	if len(found.hooks.Hooks) == 0 || s.Instructions.use == noInstructions {
		return
	}
	approved, err := s.Instructions.store.Approved(found.hooks.Path(), found.hooks.Hash)
	switch {
	case err != nil:
		s.Notes = append(s.Notes, "the project's hooks are not run: "+err.Error())
	case !approved:
		s.Notes = append(s.Notes, "the project's hooks in "+found.hooks.Name+" are not run; run agent trust add")
	default:
		s.ProjectHooks = found.hooks
		s.Notes = append(s.Notes, hooks.Unmatched(found.hooks.Hooks)...)
	}
}

// file is a file of the project whose text the model may get.
type file struct{ path, name, text string }

func ofSkill(k skills.Skill) file         { return file{k.Path(), k.FileName(), k.Text} }
func ofAgent(d subagents.Definition) file { return file{d.Path, d.File, d.Text} }

// instruction returns the question of trust about f.
func (f file) instruction() trust.Instruction {
	return trust.Instruction{
		Path: f.path, Name: f.name, Size: int64(len(f.text)), Hidden: modelcontext.Hidden(f.text), Hash: modelcontext.TextHash(f.text),
	}
}

// useFiles sets the skills and the definitions of sub-agents that may be used.
func (s *Setup) useFiles(found project) {
	own, notes := skills.OfUser(s.Home)
	s.Notes = append(append(s.Notes, notes...), found.notes...)
	s.Skills = usable("skills", s, own, found.skills, ofSkill, skills.First)
	agents, notes := subagents.OfUser(s.Home)
	s.Notes = append(s.Notes, notes...)
	s.SubAgents = usable("sub-agents", s, agents, found.agents, ofAgent, subagents.First)
}

// usable returns the definitions of a kind that may be used, the first with each name: the user's
// own, and those found in the project that the user trusts. It notes the others.
func usable[T any](kind string, s *Setup, own, found []T, of func(T) file, first func([]T) ([]T, []string)) []T {
	var left []string
	trusted := s.Instructions.judge()
	for _, one := range found {
		if f := of(one); trusted(f.path, modelcontext.TextHash(f.text)) {
			own = append(own, one)
		} else {
			left = append(left, f.name)
		}
	}
	if len(left) > 0 && s.Instructions.use == approvedOnly {
		s.Notes = append(s.Notes, "ignoring "+kind+" (not trusted yet): "+strings.Join(left, ", ")+"; run agent trust add")
	}
	list, notes := first(own)
	s.Notes = append(s.Notes, notes...)
	return list
}

// Instructions decides which instructions of the project the model gets.
type Instructions struct {
	store trust.Store
	use   instructionUse
	also  []trust.Instruction // approved, as follows from answers, but not saved
}

// instructionUse is an answer for the whole project.
type instructionUse int

const (
	approvedOnly instructionUse = iota
	noInstructions
	allInstructions // of --trust and of our own demo
)

// Trusted reports whether the model gets the file at path with the text that has this
// hash: not if the answers cannot be read.
func (i Instructions) Trusted(path, hash string) bool { return i.judge()(path, hash) }

// judge returns Trusted for many files: it reads the answers once.
func (i Instructions) judge() func(path, hash string) bool {
	if i.use != approvedOnly {
		return func(string, string) bool { return i.use == allInstructions }
	}
	approved, err := i.store.Approvals()
	return func(path, hash string) bool {
		return err == nil && approved.Has(path, hash) ||
			slices.ContainsFunc(i.also, func(in trust.Instruction) bool { return in.Path == path && in.Hash == hash })
	}
}

// TrustedBelow is Trusted for a file below the session's folder. One in a trusted folder,
// if no text of it was approved before, is trusted with this text.
func (i Instructions) TrustedBelow(ctx context.Context, path, name, hash string) bool {
	if i.use != approvedOnly {
		return i.use == allInstructions
	}
	found := trust.Found{Instructions: []trust.Instruction{{Path: path, Name: name, Hash: hash}}}
	left, err := i.store.Unapproved(ctx, found)
	return err == nil && len(left) == 0
}

// Approve saves that the person has approved this text of the file, in an edit.
func (i Instructions) Approve(ctx context.Context, path, text string) error {
	return i.store.Approve(ctx, trust.Instruction{Path: path, Hash: modelcontext.TextHash(text)})
}

// Seen reports whether a person has seen a file of a project that a hook runs.
func (i Instructions) Seen(key, hash string) (seen, known bool) { return i.store.Seen(key, hash) }

// See saves that a person has seen the files that a hook runs. If that fails, the next session asks.
func (i Instructions) See(ctx context.Context, key, hash string) {
	_ = i.store.Approve(ctx, trust.Instruction{Path: key, Hash: hash})
}
