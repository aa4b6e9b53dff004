package modelcontext

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/clip"
)

// Skill is a skill that the model may use. The list of skills stays the same for all
// conversations of a Builder, since a change would cost the provider's cache.
type Skill struct {
	Name, Description string
	File              string // absolute
}

// MaxSkills is the maximum size of the list of skills, in bytes.
const MaxSkills = 24 << 10

// line returns the skill as a line of the prompt.
func (s Skill) line() string {
	return fmt.Sprintf("- %s: %s (%s)\n", oneLine(s.Name), clip.Line(oneLine(s.Description)), oneLine(s.File))
}

// FitSkills returns the skills at the beginning of list for which the prompt has room.
func FitSkills(list []Skill) []Skill {
	size := 0
	for i, s := range list {
		if size += len(s.line()); size > MaxSkills {
			return list[:i]
		}
	}
	return list
}

// writeSkills writes the list of skills. Models skip skills unless they are told when to read
// one.
func writeSkills(w *strings.Builder, list []Skill) {
	if len(list) == 0 {
		return
	}
	w.WriteString("\nSkills, written by the user for certain tasks. If a task fits a description, read that file with read_file before anything else and follow it; paths in it are relative to its folder:\n")
	for _, s := range list {
		w.WriteString(s.line())
	}
}

// Hidden returns the number of characters of text that a reader cannot see.
func Hidden(text string) int {
	_, hidden := visible(text)
	return hidden
}
