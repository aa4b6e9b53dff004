package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// byCommand reports whether a command, or the undo of one, made one of the changes.
func (c chain) byCommand() bool {
	for _, e := range c {
		if e.ModeAfter != nil {
			return true
		}
	}
	return false
}

// restore returns the restoration of a path that a command changed, and how it is shown.
// foreign is the reason to think that somebody else changed it between the changes.
func (c chain) restore(root *workspace.Root, s step, foreign error, others bool) (workspace.Change, step, error) {
	first, last := c[0], c[len(c)-1]
	for _, e := range c {
		if e.Unkept != "" {
			return workspace.Change{}, s, errors.New(e.Unkept)
		}
	}
	now, content, err := root.Look(last.Path)
	if err != nil {
		return workspace.Change{}, s, err
	}
	if !now.Left(last.Entry) {
		foreign = errChangedSince
		if !now.Exists() {
			foreign = errGone
		}
	}
	x := workspace.States{Before: now}
	already := now.Equal(workspace.State{Mode: first.Mode, Hash: first.Before})
	if err := c.refusal(foreign, already, others); err != nil {
		return workspace.Change{}, s, err
	}
	s.others = foreign != nil
	if first.Before != nil {
		if x.Content, err = first.Content(); err != nil {
			return workspace.Change{}, s, err
		}
		x.After = workspace.StateOf(first.Mode, x.Content)
	}
	if x.Replaces() {
		if err := root.Linked(last.Path); err != nil {
			return workspace.Change{}, s, err
		}
	}
	return workspace.Restated(last.Path, last.Name, x, content), s, nil
}

// stillThere ensures that the path is still in the state of the plan.
func stillThere(root *workspace.Root, c workspace.Change) error {
	now, _, err := root.Look(c.Path)
	switch {
	case err != nil:
		return errors.Join(workspace.ErrStale, err)
	case now.Equal(c.States.Before):
		return nil
	case !now.Exists():
		return errGone
	}
	return errChangedSince
}

// order sorts the changes of a plan with restorations so that each can be made.
func (p *Plan) order() {
	changes, steps := p.Changes, p.steps
	p.Changes, p.steps = nil, nil
	for _, i := range workspace.Order(changes) {
		p.Changes, p.steps = append(p.Changes, changes[i]), append(p.steps, steps[i])
	}
}

// Modes describes the changes of the plan that the texts do not show: of modes, and of
// links and folders.
func (p Plan) Modes() []string {
	var out []string
	for _, c := range p.Changes {
		x := c.States
		if x == nil || !x.Before.Exists() || !x.After.Exists() || x.Before.Mode == x.After.Mode {
			continue
		}
		out = append(out, fmt.Sprintf("%s: mode %s → %s", c.Name, x.Before.Mode, x.After.Mode))
	}
	return out
}

// modes describes the change of a path's mode; "" without one.
func (c chain) modes() string {
	first, last := c[0], c[len(c)-1]
	if first.Before == nil || last.After == nil || c.keepsMode() {
		return ""
	}
	return fmt.Sprintf("mode %s → %s", first.Mode, *last.ModeAfter)
}

// keepsMode reports whether the path has the same mode before and after c, as far as is
// known.
func (c chain) keepsMode() bool {
	last := c[len(c)-1].ModeAfter
	return last == nil || c[0].Mode == *last
}

// ofFolder reports whether c is about a folder.
func (c chain) ofFolder() bool {
	first, last := c[0], c[len(c)-1]
	after := fs.FileMode(0)
	if last.ModeAfter != nil {
		after = *last.ModeAfter
	}
	return (first.Before == nil || first.Mode.IsDir()) && (last.After == nil || after.IsDir()) && c.byCommand() && (first.Mode | after).IsDir()
}

// Restored returns the names that Do has restored, and a remark about the folders that it
// did not remove because something is in them; "" without one.
func (p Plan) Restored() (names []string, remark string) {
	var remaining []string
	for _, c := range p.Changes {
		if remains(p.root, c) {
			remaining = append(remaining, c.Name)
		} else {
			names = append(names, c.Name)
		}
	}
	switch len(remaining) {
	case 0:
		return names, ""
	case 1:
		return names, remaining[0] + " stays: something is in it"
	}
	return names, strings.Join(remaining, ", ") + " stay: something is in them"
}

// remains reports whether a folder that was to be removed is still there.
func remains(root *workspace.Root, c workspace.Change) bool {
	if c.States == nil || !c.States.Before.IsDir() || c.States.After.Exists() {
		return false
	}
	now, _, err := root.Look(c.Path)
	return err == nil && now.IsDir()
}
