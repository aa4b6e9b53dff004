// Package notes says what a reviewer has to know about a change beside its diff.
// It guarantees that characters which do not show, files that make other programs
// run something, and text that was not matched exactly are never left unsaid.
package notes

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// On returns what a reviewer of c has to know, and whether a person has to
// look at it whatever the mode. home is the program's own folder.
func On(c workspace.Change, stage edit.Stage, home string) (notes []caution.Note, force bool) {
	if stage != edit.Exact {
		notes = append(notes, caution.Note{Kind: caution.Loose, Text: fmt.Sprintf("The text matched only after %s.", stage)})
		force = stage.Loose()
	}
	if why := permission.Protected(c.Name, c.Path, home); why != "" {
		notes = append(notes, caution.Note{Kind: caution.Protected, Text: fmt.Sprintf("%s is protected: %s.", c.Name, why)})
		force = true
	}
	if n := caution.InName(c.Name); n != nil {
		notes = append(notes, n...)
		force = true
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

// OnRead returns what a reviewer of a read outside the workspace has to know,
// and whether a person has to look at it whatever was answered before.
func OnRead(abs string, folder bool) (notes []caution.Note, force bool) {
	if folder {
		notes = caution.Notes("This is a folder: what is in it may be read from then on, except where keys are usually kept.")
	}
	if permission.Secret(abs) {
		notes = append(notes, caution.Notes("What is here often holds keys or passwords, which would be sent to the model.")...)
		force = true
	}
	return notes, force
}
