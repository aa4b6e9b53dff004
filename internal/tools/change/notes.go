package change

import (
	"fmt"
	"io/fs"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// notesOn returns the notes for a reviewer of p, and whether a person has to look at it.
func (w Writer) notesOn(p pending.Change) (all []caution.Note, force bool) {
	stages := p.Stages
	if len(stages) == 0 {
		stages = []edit.Stage{edit.Exact}
	}
	for i, stage := range stages {
		notes, forced := w.changeNotes(p.Change, stage)
		if i > 0 {
			notes = notes[:1] // the others are the same
		}
		all, force = append(all, notes...), force || forced
	}
	if mode := modeOf(p.Change); mode != "" {
		all, force = append(all, caution.Notes(p.Name+": "+mode)...), force || p.States != nil && !p.States.MakesFolder()
	}
	return append(all, p.Notes...), force || p.Force
}

// modeOf describes the part of a change that its text does not show; "" without one.
func modeOf(c workspace.Change) string {
	s := c.States
	switch {
	case s == nil && !c.Exists && c.Mode&0o111 != 0:
		return fmt.Sprintf("mode %s", c.Mode)
	case s == nil, s.Before.Equal(s.After):
		return ""
	case s.Before.Exists() && s.After.Exists():
		if s.Before.Mode == s.After.Mode {
			return ""
		}
		return fmt.Sprintf("mode %s → %s", s.Before.Mode, s.After.Mode)
	}
	mode := s.Before.Mode | s.After.Mode // one of them is zero
	switch {
	case mode.IsDir():
		return fmt.Sprintf("a folder, mode %s", mode)
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&0o111 == 0 || c.Delete:
		return ""
	}
	return fmt.Sprintf("mode %s", mode)
}

// changeNotes returns the notes for a reviewer of c, and whether a person has to look at
// it whatever the mode.
func (w Writer) changeNotes(c workspace.Change, stage edit.Stage) (notes []caution.Note, force bool) {
	if stage != edit.Exact {
		notes = append(notes, caution.Note{Kind: caution.Loose, Text: fmt.Sprintf("The text matched only after %s.", stage)})
		force = stage.Loose()
	}
	place, in := placeNotes(c.Name, c.Path, w.Home)
	notes, force = append(notes, place...), force || in
	if c.Moves() {
		place, in = placeNotes(c.ToName, c.To, w.Home)
		notes, force = append(notes, place...), force || in
		if why := w.moveReveals(c); why != "" {
			notes = append(notes, caution.Note{Kind: caution.Protected, Text: fmt.Sprintf("%s %s: as %s, it is read without a question.", c.Name, why, c.ToName)})
			force = true
		}
	}
	if c.Moves() && c.After == c.Text {
		return notes, force
	}
	for _, n := range caution.Of(diff.Lines(c.Text, c.After), c.Text, c.After, c.Exists) {
		notes = append(notes, n)
		force = force || n.Kind == caution.Hidden || n.Kind == caution.LookAlike
	}
	if c.Exists && c.Mode&0o111 != 0 {
		notes = append(notes, caution.Note{Kind: caution.Executable, Text: c.Name + " is executable."})
	}
	return notes, force
}

// moveReveals explains why a move makes a text readable without a question; "" if it does not.
func (w Writer) moveReveals(c workspace.Change) string {
	if w.Withheld(c.ToName, c.To) {
		return ""
	}
	if keys := permission.MoveReveals(c.Name, c.Path, c.ToName, c.To, w.Home); keys != "" {
		return keys
	}
	if w.Withheld(c.Name, c.Path) && permission.Keys(c.ToName, c.To, w.Home) == "" {
		return "is kept from the model by a rule"
	}
	return ""
}

// placeNotes returns the notes about the path of a change.
func placeNotes(name, abs, home string) (notes []caution.Note, force bool) {
	if why := permission.Protected(name, abs, home); why != "" {
		notes = append(notes, caution.Note{Kind: caution.Protected, Text: fmt.Sprintf("%s is protected: %s.", name, why)})
	}
	notes = append(notes, caution.InName(name)...)
	return notes, len(notes) > 0
}

// makesGit explains why changes make a folder a git folder, though none of them alone does;
// "" means they do not.
func makesGit(changes []pending.Change) string {
	var paths []string
	for _, p := range changes {
		switch {
		case p.Moves():
			paths = append(paths, p.To)
		case !p.Delete:
			paths = append(paths, p.Path)
		}
	}
	return permission.MakesGit(paths)
}
