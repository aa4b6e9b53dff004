package app

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/app/skills"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/session"
)

// offered returns the skills that the model is told about.
func (a *App) offered() []modelcontext.Skill {
	var list []modelcontext.Skill
	for _, s := range a.skills {
		if !s.Manual {
			list = append(list, modelcontext.Skill{Name: s.Name, Description: s.Description, File: s.Path()})
		}
	}
	fitting := modelcontext.FitSkills(list)
	if len(fitting) < len(list) {
		a.emit(session.Notice{Text: fmt.Sprintf("The model is not told about the skills from %s on: the descriptions have more than %d KiB in total. "+
			"Shorten some, or use them with their commands.", list[len(fitting)].Name, modelcontext.MaxSkills>>10)})
	}
	return fitting
}

// named reports whether the file at path guides the model: with instructions, or a skill.
func named(path string) bool { return modelcontext.Named(path) || skills.Named(path) }
