package effects

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Report lists the changes made while a command ran.
type Report struct {
	Files []File // without folders
	// Err is the reason why not all was recorded.
	Err error
}

// File is a changed file or link.
type File struct {
	Name           string
	From           string // the old name of a renamed file
	How            How
	Added, Removed int    // lines
	Unkept         string // the reason why it cannot be undone; empty if it can
}

// How is the way in which a file changed.
type How string

// The ways to change.
const (
	Created How = "created"
	Changed How = "changed"
	Deleted How = "deleted"
	Renamed How = "renamed"
	Chmod   How = "changed the mode of"
)

// add adds changes to r.
func (r *Report) add(all []change) {
	to, from := renames(all)
	for _, c := range all {
		if c.ofFolder() || to[c.effect.Name] {
			continue
		}
		f := File{Name: c.effect.Name, How: c.how(), Added: c.added, Removed: c.removed, Unkept: c.effect.Unkept}
		if old := from[f.Name]; old != "" {
			f.How, f.From, f.Added = Renamed, old, 0
		}
		r.Files = append(r.Files, f)
	}
}

func (c change) how() How {
	e := c.effect
	switch {
	case !e.Before.Exists():
		return Created
	case !e.After.Exists():
		return Deleted
	case e.Unkept == "" && *e.Before.Hash == *e.After.Hash && e.Before.Mode.Type() == e.After.Mode.Type():
		return Chmod
	}
	return Changed
}

// ofFolder reports whether c changes only a folder.
func (c change) ofFolder() bool {
	e := c.effect
	return (e.Before.IsDir() || !e.Before.Exists()) && (e.After.IsDir() || !e.After.Exists())
}

// renames finds the files that have another name: of those with the same content, just one
// is gone and one has come. It returns the old names, and the old name for each new one.
func renames(all []change) (old map[string]bool, from map[string]string) {
	gone, came := map[workspace.Hash][]string{}, map[workspace.Hash][]string{}
	for _, c := range all {
		switch e := c.effect; {
		case e.Unkept != "" || c.ofFolder():
		case !e.Before.Exists() && c.now.size > 0:
			came[*e.After.Hash] = append(came[*e.After.Hash], e.Name)
		case !e.After.Exists():
			gone[*e.Before.Hash] = append(gone[*e.Before.Hash], e.Name)
		}
	}
	old, from = map[string]bool{}, map[string]string{}
	for content, names := range came {
		if was := gone[content]; len(names) == 1 && len(was) == 1 {
			old[was[0]], from[names[0]] = true, was[0]
		}
	}
	return old, from
}

// maxNamed is the number of files that a report names.
const maxNamed = 20

// String describes the changes in one line; it is empty without any.
func (r Report) String() string {
	var parts []string
	named := 0
	for _, how := range []How{Created, Changed, Deleted, Renamed, Chmod} {
		var names []string
		for _, f := range r.Files {
			if f.How != how {
				continue
			}
			if named++; named > maxNamed {
				continue
			}
			name := f.Name
			if f.From != "" {
				name = f.From + " → " + name
			}
			if f.Unkept != "" {
				name += " (cannot be undone: " + f.Unkept + ")"
			}
			names = append(names, name)
		}
		if len(names) > 0 {
			parts = append(parts, string(how)+" "+strings.Join(names, ", "))
		}
	}
	if more := len(r.Files) - maxNamed; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	if r.Err != nil {
		parts = append(parts, "some of its changes are unknown: "+r.Err.Error())
	}
	return strings.Join(parts, "; ")
}
