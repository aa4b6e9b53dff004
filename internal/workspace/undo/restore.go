package undo

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
	x := &workspace.Restoration{Path: last.Path, Name: last.Name, From: now}
	already := now.Equal(workspace.State{Mode: first.Mode, Hash: first.Before})
	if err := c.refusal(foreign, already, others); err != nil {
		return workspace.Change{}, s, err
	}
	s.others = foreign != nil
	if first.Before != nil {
		if x.Content, err = first.Content(); err != nil {
			return workspace.Change{}, s, err
		}
		x.To = workspace.StateOf(first.Mode, x.Content)
	}
	if x.Replaces() {
		if err := root.Linked(x.Path); err != nil {
			return workspace.Change{}, s, err
		}
	}
	s.restore = x
	return shown(x, content), s, nil
}

// shown returns x in the form of a change of text.
func shown(x *workspace.Restoration, now []byte) workspace.Change {
	c := workspace.Change{Delete: !x.To.Exists()}
	c.Path, c.Name, c.Exists, c.Mode = x.Path, x.Name, x.From.Exists(), x.To.Mode
	if c.Delete {
		c.Mode = x.From.Mode
	}
	if c.Exists {
		c.Hash, c.Size = *x.From.Hash, int64(len(now))
	} else {
		now = nil
	}
	then := x.Content
	if c.Delete {
		then = nil
	}
	var err error
	if c.Format, c.Text, c.After, err = decode(now, then); err != nil {
		c.Text, c.After = workspace.Describe(now), workspace.Describe(then)
	}
	return c
}

// stillThere ensures that the path is still in the state of the plan.
func (s step) stillThere(root *workspace.Root) error {
	now, _, err := root.Look(s.restore.Path)
	switch {
	case err != nil:
		return errors.Join(workspace.ErrStale, err)
	case now.Equal(s.restore.From):
		return nil
	case !now.Exists():
		return errGone
	}
	return errChangedSince
}

// order sorts the changes of a plan with restorations so that each can be made: first
// what goes, then folders from the outside in, then their content.
func (p *Plan) order() {
	if !slices.ContainsFunc(p.steps, func(s step) bool { return s.restore != nil }) {
		return
	}
	order := make([]int, len(p.steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		phase := p.phase(a)
		if d := cmp.Compare(phase, p.phase(b)); d != 0 {
			return d
		}
		if phase == foldersGo {
			a, b = b, a
		}
		return strings.Compare(p.Changes[a].Path, p.Changes[b].Path)
	})
	changes, steps := p.Changes, p.steps
	p.Changes, p.steps = nil, nil
	for _, i := range order {
		p.Changes, p.steps = append(p.Changes, changes[i]), append(p.steps, steps[i])
	}
}

// The order in which an undo restores paths.
const (
	filesGo     = iota
	foldersGo   // the innermost first; something else may take their place
	foldersCome // the outermost first
	filesCome
)

func (p *Plan) phase(i int) int {
	x := p.steps[i].restore
	switch {
	case x == nil && p.Changes[i].Delete:
		return filesGo
	case x == nil:
		return filesCome
	case x.From.IsDir() && !x.To.IsDir():
		return foldersGo
	case x.To.IsDir():
		return foldersCome
	case !x.To.Exists():
		return filesGo
	}
	return filesCome
}

// Modes describes the changes of the plan that the texts do not show: of modes, and of
// links and folders.
func (p Plan) Modes() []string {
	var out []string
	for i, s := range p.steps {
		x := s.restore
		if x == nil || !x.From.Exists() || !x.To.Exists() || x.From.Mode == x.To.Mode {
			continue
		}
		out = append(out, fmt.Sprintf("%s: mode %s → %s", p.Changes[i].Name, x.From.Mode, x.To.Mode))
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
	for i, s := range p.steps {
		name := p.Changes[i].Name
		if s.remains(p.root) {
			remaining = append(remaining, name)
		} else {
			names = append(names, name)
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
func (s step) remains(root *workspace.Root) bool {
	if s.restore == nil || !s.restore.From.IsDir() || s.restore.To.Exists() {
		return false
	}
	now, _, err := root.Look(s.restore.Path)
	return err == nil && now.IsDir()
}
