// Package pending holds the changes of a turn that wait for one review. It guarantees that
// each file has one change, from the text on disk before the first edit to the text after
// the last one, and that readers of the files through it see the texts after.
package pending

import (
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Change is the pending change of a file.
type Change struct {
	workspace.Change
	Stages []edit.Stage // of the edits that it consists of, but exact ones
	// Notes, Force and Person are for the question about it, from the hooks of the edits.
	Notes  []caution.Note
	Force  bool
	Person bool
}

// Changes are the changes of a turn. A nil *Changes has none and takes none. The goroutine
// that runs the turn owns it: only that one calls Stage, Set and Drop, while no other reads,
// except under Settling.
type Changes struct {
	all  []Change
	call string // the last one that staged a change

	settling sync.Mutex // held by a review before a call that others run beside
}

// Len returns the number of changed files.
func (c *Changes) Len() int {
	if c == nil {
		return 0
	}
	return len(c.all)
}

// All returns the changes, in the order of their first edits.
func (c *Changes) All() []Change {
	if c == nil {
		return nil
	}
	return slices.Clone(c.all)
}

// Call returns the id of the last call that staged a change.
func (c *Changes) Call() string {
	if c == nil {
		return ""
	}
	return c.call
}

// Settling waits until no other call has the changes reviewed, and keeps others from it
// until done.
func (c *Changes) Settling() (done func()) {
	c.settling.Lock()
	return c.settling.Unlock
}

// find returns the index of the change of the file at path, on disk or after a move, or -1.
func (c *Changes) find(path string) int {
	if c == nil {
		return -1
	}
	if i := slices.IndexFunc(c.all, func(p Change) bool { return p.To == path && p.Moves() }); i >= 0 {
		return i
	}
	return slices.IndexFunc(c.all, func(p Change) bool { return p.Path == path })
}

// Has reports whether the file at the absolute path has a pending change.
func (c *Changes) Has(path string) bool { return c.find(path) >= 0 }

// Leaves reports whether a pending change moves the file at the absolute path away.
func (c *Changes) Leaves(path string) bool {
	i := c.find(path)
	return i >= 0 && c.all[i].Moves() && c.all[i].Path == path
}

// Frees reports whether nothing is at the absolute path any more with the pending changes.
func (c *Changes) Frees(path string) bool {
	i := c.find(path)
	return i >= 0 && c.all[i].Path == path && c.all[i].Removes()
}

// Returns reports whether a move of the file at from takes a pending move back.
func (c *Changes) Returns(from, to string) bool {
	i := c.find(from)
	return i >= 0 && c.all[i].To == from && c.all[i].Path == to
}

// Over returns a file on disk as it is with its pending change.
func (c *Changes) Over(f workspace.File) workspace.File {
	i := c.find(f.Path)
	if i < 0 {
		return f
	}
	p := c.all[i]
	gone := p.Delete || p.Moves() && p.Path == f.Path
	p.Exists, p.Text, p.Raw, p.Path, p.Name = !gone, p.After, p.RawAfter, f.Path, f.Name
	return p.File
}

// Onto returns a change of a file as it is with its pending change, as a change of the file
// on disk.
func (c *Changes) Onto(change workspace.Change) workspace.Change {
	i := c.find(change.Path)
	if i < 0 {
		return change
	}
	p := c.all[i]
	if !change.Delete && !change.Moves() {
		change.To, change.ToName = p.To, p.ToName
	}
	mode := change.Mode
	if change.File = p.File; !change.Exists {
		change.Mode = mode
	}
	if change.To == change.Path { // it moves back
		change.To, change.ToName = "", ""
	}
	if p.States != nil && change.States == nil && change.Editable() {
		change.States = p.States
		change = workspace.NewContent(change, change.After)
	}
	return change
}

// Stage takes a change, computed from Over and passed through Onto, for the call with this
// id. A change that leaves the file as it is on disk is dropped.
func (c *Changes) Stage(change workspace.Change, stage edit.Stage, call string) {
	c.call = call
	i := c.find(change.Path)
	if change.Moves() && !change.Exists { // a new file gets another name
		change.Path, change.Name, change.To, change.ToName = change.To, change.ToName, "", ""
	}
	p := Change{Change: change}
	if i >= 0 {
		p.Stages = c.all[i].Stages
		p.Notes, p.Force, p.Person = c.all[i].Notes, c.all[i].Force, c.all[i].Person
	}
	if stage != edit.Exact && !slices.Contains(p.Stages, stage) {
		p.Stages = append(slices.Clip(p.Stages), stage)
	}
	needless := !p.Exists && p.Delete || p.Needless()
	switch {
	case needless && i >= 0:
		c.all = slices.Delete(c.all, i, i+1)
	case needless:
	case i >= 0:
		c.all[i] = p
	default:
		c.all = append(c.all, p)
	}
}

// Mark adds notes to the change of the file at path, if it has one. force keeps rules from
// answering the question about it, person every mode, too.
func (c *Changes) Mark(path string, notes []caution.Note, force, person bool) {
	i := c.find(path)
	if i < 0 {
		return
	}
	p := &c.all[i]
	for _, n := range notes {
		if !slices.Contains(p.Notes, n) {
			p.Notes = append(slices.Clip(p.Notes), n)
		}
	}
	p.Force, p.Person = p.Force || force, p.Person || person
}

// Marked returns change with the marks and the stages of the pending change of its file.
func (c *Changes) Marked(change workspace.Change) Change {
	p := Change{Change: change}
	if i := c.find(change.Path); i >= 0 {
		p = c.all[i]
		p.Change = change
	}
	return p
}

// Set replaces all changes.
func (c *Changes) Set(all []Change) { c.all = all }

// Drop forgets all changes and returns the names of their files.
func (c *Changes) Drop() []string {
	if c == nil {
		return nil
	}
	var names []string
	for _, p := range c.all {
		names = append(names, p.Name)
	}
	c.all = nil
	return names
}

// Read returns the file at the absolute path as it is with its pending change; false
// without one. The error is fs.ErrNotExist for a removed file.
func (c *Changes) Read(path string) (f workspace.File, ok bool, err error) {
	i := c.find(path)
	if i < 0 {
		return workspace.File{}, false, nil
	}
	p := c.all[i].Change
	if f = p.File; p.To == path {
		f.Path, f.Name = p.To, p.ToName
	}
	f = c.Over(f)
	if !f.Exists {
		err = fmt.Errorf("%s is removed by a pending change: %w", f.Name, fs.ErrNotExist)
	}
	return f, true, err
}
