package confirm

import "github.com/bb2d0cf4/agent/internal/sanitize"

// Save asks to save a file that has unsaved changes in the user's editor.
type Save struct {
	Path   string // absolute, resolved
	Name   string // relative to the root, for people
	Editor string // its name, for people
}

func (s *Save) facts(Request) Facts {
	return Facts{
		Title:  "Save " + sanitize.Name(s.Name),
		Line:   "save " + sanitize.Name(s.Name) + " in " + sanitize.Name(s.Editor) + ": it has unsaved changes there, and the edit applies to them",
		Covers: "this file", Kind: "save", About: s.Path,
	}
}

func (*Save) fits(v Verdict) error { return v.bare() }
