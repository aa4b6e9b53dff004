package confirm

import (
	"errors"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Edits are changes of files that are proposed together. An approval covers exactly these
// bytes, or those of the reviewer, without the files in Verdict.Except.
type Edits struct {
	// Title describes several changes. With one, it describes the effect of an undo, a redo or
	// a rewind on the file, or is empty.
	Title   string
	Changes []workspace.Change
	// Review marks the gathered proposals of a model: the reviewer may leave out parts of a file
	// (see Verdict.Texts), and comment on them.
	Review bool
	// Parts lets the reviewer leave out parts of a file that is there before and after.
	Parts bool
	// Out lists the files that the person left out when the question was asked before, as
	// indexes into Changes. Reviewers begin with it.
	Out []int
}

// Edit returns the proposal of one change.
func Edit(c workspace.Change) *Edits { return &Edits{Changes: []workspace.Change{c}} }

// One reports whether e is the change of one file, which surfaces show at once and not in a list.
func (e *Edits) One() bool { return len(e.Changes) == 1 && !e.Review && !e.Parts }

// File returns the change of a request about one file, and nil for any other request.
func (r Request) File() *workspace.Change {
	if e, ok := r.Subject.(*Edits); ok && e.One() {
		return &e.Changes[0]
	}
	return nil
}

// Verb describes a change in a word.
func Verb(c workspace.Change) string {
	switch {
	case c.Moves():
		return "move"
	case c.Delete:
		return "delete"
	case !c.Exists:
		return "create"
	}
	return "edit"
}

func (e *Edits) facts(Request) Facts {
	var paths []string
	for _, c := range e.Changes {
		paths = append(paths, c.Paths()...)
	}
	f := Facts{Title: sanitize.Line(e.Title), Once: true, Kind: "plan", About: strings.Join(paths, "\n")}
	if e.Review {
		f.Drafts = e.Changes
	}
	if !e.One() {
		return f
	}
	c := e.Changes[0]
	f.Title, f.Covers, f.Once, f.Kind, f.Text = "Edit "+sanitize.Name(c.Label()), "edits", c.Removes(), "edit", c.After
	switch {
	case c.Moves():
		f.Title, f.Kind = "Move "+sanitize.Name(c.Label()), "move"
	case c.Delete:
		f.Title = "Delete " + sanitize.Name(c.Label())
	}
	if c.Editable() {
		f.Drafts = e.Changes
	}
	return f
}

func (e *Edits) fits(v Verdict) error {
	switch {
	case v.Unsure != "" && v.Edited() == nil:
		return errors.New("the reviewer is unsure about a text but gave none")
	case !e.excepts(v.Except):
		return errors.New("the reviewer left out unknown files, or all files")
	case !e.changes(v):
		return errors.New("the reviewer approved texts that the proposal does not have")
	}
	v.Unsure, v.Except, v.Texts = "", nil, nil
	return v.bare()
}

// excepts reports whether the files in out can be left out: each once, and not all.
func (e *Edits) excepts(out []int) bool {
	seen := map[int]bool{}
	for _, i := range out {
		if i < 0 || i >= len(e.Changes) || seen[i] {
			return false
		}
		seen[i] = true
	}
	return len(out) == 0 || len(seen) < len(e.Changes)
}

// changes reports whether the texts of v can be those of files in e.
func (e *Edits) changes(v Verdict) bool {
	for i := range v.Texts {
		if !e.One() && !e.Review && !e.Parts || i < 0 || i >= len(e.Changes) || !e.Changes[i].Editable() || slices.Contains(v.Except, i) {
			return false
		}
	}
	return true
}

// Final returns the changes that v approves, with the reviewer's texts.
func (e *Edits) Final(v Verdict) []workspace.Change {
	var out []workspace.Change
	for i, c := range e.Changes {
		if slices.Contains(v.Except, i) {
			continue
		}
		if text, ok := v.Texts[i]; ok {
			c = workspace.NewContent(c, text)
		}
		out = append(out, c)
	}
	return out
}

// Final returns the changes that v approves, with the reviewer's texts.
func (r Request) Final(v Verdict) []workspace.Change {
	if e, ok := r.Subject.(*Edits); ok {
		return e.Final(v)
	}
	return nil
}
