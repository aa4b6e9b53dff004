package undo

import (
	"slices"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// void is the undo of entries that left nothing: they made a file and removed it again. It
// shows and changes nothing, but the entries are no longer in effect.
type void struct {
	step
	file workspace.Effect // its path, without content
}

// isVoid reports whether the entries left nothing.
func (c chain) isVoid() bool { return c[0].Before == nil && c[len(c)-1].After == nil && c.whole() }

func (c chain) void() void {
	last := c[len(c)-1]
	return void{
		step{session: c[0].Session, undoes: c.ids()},
		workspace.Effect{Path: last.Path, Name: last.Name},
	}
}

// recordVoids takes the voids of p out of effect.
func (p Plan) recordVoids(by workspace.Origin) error {
	by.Of = 0 // no file of the undo is written yet
	for _, v := range p.voids {
		if err := p.root.Record(slices.Values([]workspace.Effect{v.file}), v.origin(by)); err != nil {
			return err
		}
	}
	return nil
}
