// Package access decides which files a model may read without a question. It guarantees that
// keys and withheld texts need an answer first.
package access

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Files are the files that a model may ask for.
type Files struct {
	Root *workspace.Root
	// Home is the program's own folder, which is protected; may be empty.
	Home string
	// Withholds reports whether a rule denies or asks about the text of a file that is
	// otherwise read without a question; nil if there are no such rules. name is relative to
	// the workspace or absolute.
	Withholds func(name, abs string) bool
}

// Hides reports whether the text of the file at path is kept from the model until a person
// agrees to read it.
func (f Files) Hides(path string) bool {
	abs, name, err := f.Root.Resolve(path)
	return err == nil && f.Guards(name, abs) != ""
}

// Guards explains why the text of the file abs is kept from the model, as the predicate of
// a sentence about it; "" if it is not. No tool opens such a file: see workspace.Root.Guard.
func (f Files) Guards(name, abs string) string {
	if why := permission.NeverRead(abs, f.Home); why != "" {
		return "is never read, as " + why
	}
	switch {
	case f.Allowed(abs):
		return ""
	case f.Withheld(name, abs):
		return "is kept from the model by a rule"
	}
	return permission.Keys(name, abs, f.Home)
}

// NeedsAnswer reports whether a file in the workspace is not simply read: it usually holds
// keys, does so as the settings of git, or a rule withholds it.
func (f Files) NeedsAnswer(name, abs string) bool {
	return permission.Keys(name, abs, f.Home) != "" || f.Withheld(name, abs)
}

// Withheld reports whether a rule keeps a text from the model.
func (f Files) Withheld(name, abs string) bool {
	return f.Withholds != nil && f.Withholds(name, abs)
}

// Allowed reports whether a person has agreed to read abs. Agreeing to a folder does
// not cover places in it that may contain passwords or keys or that a rule withholds.
func (f Files) Allowed(abs string) bool {
	by := f.Root.Outside().By(abs)
	switch {
	case by == "" || by == abs:
		return by == abs
	case permission.Secret(strings.TrimPrefix(abs, by)), permission.Credentials(abs) != "", f.Withheld(abs, abs):
		return false
	}
	return !f.Ours(abs) || f.Ours(by)
}

// Ours reports whether a path is in the program's own folder.
func (f Files) Ours(abs string) bool {
	return f.Home != "" && subpath.In(f.Home, abs)
}
