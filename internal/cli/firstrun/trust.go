package firstrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// ErrLeft reports that the person left; nothing was changed.
var ErrLeft = dialog.ErrLeft

// Trust asks whether to trust the files found in a folder and saves the answer. before
// is the answer so far; first means that the person has not used the program yet.
func Trust(ctx context.Context, t dialog.Terminal, s trust.Store, f trust.Found, before trust.Answer, first bool) (trusted bool, err error) {
	page := dialog.Page{Title: "Trust the files of this project?", Text: append([]string{f.Dir, ""}, Describe(f)...)}
	if first {
		page.Title += " (1 of 2)"
		page.Text = append([]string{welcome, ""}, page.Text...)
	}
	switch before {
	case trust.Changed:
		page.Title = "The files of this project have changed since you trusted them. Trust them now?"
	case trust.Replaced:
		page.Title = "This is another folder than the one that you trusted here. Trust its files?"
	}
	page.YesNo, page.Choices = true, []picker.Item{
		{Title: "Yes, use them", Detail: "here and in folders below"},
		{Title: "No", Detail: without(f)},
	}
	a, err := dialog.Ask(ctx, t, page)
	if errors.Is(err, dialog.ErrLeft) {
		return false, fmt.Errorf("%w: the project's files were not used, and you will be asked again", ErrLeft)
	}
	if err != nil {
		return false, err
	}
	if a.Yes() {
		return true, s.Trust(ctx, f)
	}
	return false, s.Set(ctx, trust.Entry{Dir: f.Dir, Folder: f.Folder})
}

// welcome introduces the program to a person who has not used it.
const welcome = "agent is a coding agent: a model reads this folder and proposes edits and commands. You see each edit as a diff before it is saved, and commands need your OK, except read-only ones."

// without lists in short the parts of a project that a no leaves unused.
func without(f trust.Found) string {
	var names []string
	if f.Config != nil {
		names = append(names, "its settings")
	}
	counts := map[string]int{"command": len(f.Command)}
	for _, in := range f.Instructions {
		switch {
		case in.Hooks != nil:
			counts["hook"] += len(in.Hooks)
		case in.Agent != "":
			counts["sub-agent"]++
		case in.Skill != "":
			counts["skill"]++
		default:
			names = append(names, sanitize.Name(in.Name))
		}
	}
	if n := len(names); n > 3 {
		names = append(names[:2], plural.Of(n-2, "file"))
	}
	for _, noun := range []string{"command", "skill", "sub-agent", "hook"} {
		if n := counts[noun]; n > 0 {
			names = append(names, plural.Of(n, noun))
		}
	}
	return "work without " + strings.Join(names, ", ") + "; you can change this later with agent trust add"
}

// instruction describes a file of instructions in one line.
func instruction(in trust.Instruction) string {
	s := fmt.Sprintf("%s, %d bytes", sanitize.Name(in.Name), in.Size)
	switch in.Hidden {
	case 0:
	case 1:
		s += ", with 1 hidden character: look at it first"
	default:
		s += fmt.Sprintf(", with %d hidden characters: look at it first", in.Hidden)
	}
	return s
}

// guides lists the instructions, the skills, the sub-agents and the hooks of a project.
func guides(f trust.Found) (lines []string) {
	var skills, agents, hooks []string
	for _, in := range f.Instructions {
		switch {
		case in.Hooks != nil:
			hooks = append(hooks, "These hooks of "+sanitize.Name(in.Name)+" would run without a question, with your rights:")
			for _, line := range in.Hooks {
				hooks = append(hooks, "  "+sanitize.Line(line))
			}
		case in.Agent != "":
			agents = append(agents, "  "+instruction(in), "    "+sanitize.Line(in.Agent))
		case in.Skill != "":
			skills = append(skills, "  "+instruction(in), "    "+sanitize.Line(in.Skill))
		case len(lines) == 0:
			lines = append(lines, "These instructions would go to the model:")
			fallthrough
		default:
			lines = append(lines, "  "+instruction(in))
		}
	}
	if len(skills) > 0 {
		lines = append(append(lines, "These skills would be offered to the model, which reads one if a task fits its description:"), skills...)
	}
	if len(agents) > 0 {
		lines = append(append(lines, "The model could give work to these sub-agents, whose edits and commands ask like any other:"), agents...)
	}
	return append(lines, hooks...)
}

// effect names the safeguards that remain after any answer to the question of trust.
func effect(f trust.Found) string {
	but := ""
	if slices.ContainsFunc(f.Instructions, func(in trust.Instruction) bool { return in.Hooks != nil }) {
		but = " and the hooks above"
	}
	return "Either way, edits and commands still need your yes, except read-only commands and those in a copy" + but +
		". A project can never set keys, addresses, programs or permissions."
}

// Describe lists everything that a project would set up, and the effect of trusting it.
func Describe(f trust.Found) []string {
	var lines []string
	if f.Config != nil {
		lines = append(lines, trust.ConfigFile+" would set:")
		counts, left, err := config.Project{File: trust.ConfigFile, Data: f.Config}.Allowed()
		for _, l := range counts {
			lines = append(lines, "  "+l)
		}
		for _, l := range left {
			lines = append(lines, "  (left out: "+l+")")
		}
		switch {
		case err != nil:
			lines = append(lines, fmt.Sprintf("  nothing: %v", err))
		case len(counts)+len(left) == 0:
			lines = append(lines, "  nothing")
		}
	}
	if len(f.Command) > 0 {
		lines = append(lines, trust.Commands+" would add commands, whose text goes to the model when you type them:")
		for _, c := range f.Command {
			lines = append(lines, "  "+c)
		}
	}
	lines = append(lines, guides(f)...)
	for _, l := range f.Left {
		lines = append(lines, "  (left out: "+l+")")
	}
	return append(lines, "", effect(f))
}
