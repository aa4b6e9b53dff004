package ide

import (
	"slices"

	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// aimKind selects the editor to link to.
type aimKind int

const (
	nothing aimKind = iota
	best            // the best that lock.Find returns
	chosen          // the editor that a person chose
)

// aim is the editor to link to.
type aim struct {
	kind aimKind
	// asked also takes editors that are not linked without being asked, for one attempt:
	// a person has just asked.
	asked bool
	// path is the lock file of the chosen editor; folders and name find that editor again
	// after a restart.
	path, name string
	folders    []string
}

// remember keeps the properties that identify the chosen editor.
func (a *aim) remember(c lock.Candidate) {
	a.path, a.name, a.folders = c.Path, c.File.Name, c.File.Folders
}

// choose returns the candidate to dial. It skips editors that refused the token of
// their lock file until that file holds another token.
func (a aim) choose(found []lock.Candidate, refused map[run]int) (lock.Candidate, bool) {
	match := func(ok func(lock.Candidate) bool) (lock.Candidate, bool) {
		i := slices.IndexFunc(found, func(c lock.Candidate) bool {
			return c.Usable && (a.asked || !c.Gone) && refused[runOf(c)] < mostRefused && ok(c)
		})
		if i < 0 {
			return lock.Candidate{}, false
		}
		return found[i], true
	}
	if a.kind == chosen {
		if c, ok := match(func(c lock.Candidate) bool { return c.Path == a.path }); ok || a.folders == nil {
			return c, ok
		}
		return match(func(c lock.Candidate) bool {
			return c.File.Name == a.name && slices.Equal(c.File.Folders, a.folders)
		})
	}
	if c, ok := match(func(c lock.Candidate) bool { return c.Auto }); ok || !a.asked {
		return c, ok
	}
	return match(func(lock.Candidate) bool { return true })
}

// whyNone explains why choose returned no editor. It prefers the editor that has the
// folder open, as that is the one a person asks about.
func whyNone(found []lock.Candidate, refused map[run]int) string {
	i := slices.IndexFunc(found, func(c lock.Candidate) bool { return c.Folder != "" })
	if i < 0 {
		return "open this folder in VS Code to connect it"
	}
	c := found[i]
	switch {
	case refused[runOf(c)] >= mostRefused:
		return nameOf(c) + " has this folder open, but it and its lock file do not agree on the token: reload its window"
	case c.Why == "":
		return nameOf(c) + " has this folder open, but another editor was chosen: /ide connect links the best"
	}
	return nameOf(c) + " has this folder open, but: " + c.Why
}

// run is a run of an editor, known by its lock file and the token in it: an editor that
// starts again makes another token.
type run struct{ path, token string }

func runOf(c lock.Candidate) run { return run{c.Path, c.File.Credential()} }
