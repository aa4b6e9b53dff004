package app

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/systemprompt"
)

// offered returns the skills that the model is told about.
func (a *App) offered() []systemprompt.Skill {
	var list []systemprompt.Skill
	for _, s := range a.skills {
		if !s.Manual {
			list = append(list, systemprompt.Skill{Name: s.Name, Description: s.Description, File: s.Path()})
		}
	}
	fitting := systemprompt.FitSkills(list)
	if len(fitting) < len(list) {
		a.emit(session.Notice{Text: fmt.Sprintf("The model is not told about the skills from %s on: the descriptions have more than %d KiB in total. "+
			"Shorten some, or use them with their commands.", list[len(fitting)].Name, systemprompt.MaxSkills>>10)})
	}
	return fitting
}

// named reports whether the file at path guides the model: with instructions, or a skill.
func named(path string) bool { return systemprompt.Named(path) || skills.Named(path) }
