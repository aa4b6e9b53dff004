package ide

import (
	"slices"

	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// aimKind says what the link is to be to.
type aimKind int

const (
	nothing aimKind = iota
	best            // whichever is the best
	chosen          // the editor that a person chose
)

// aim is what the link is to be to.
type aim struct {
	kind aimKind
	// asked takes editors too that are not to be connected unasked: a person has just
	// asked. It holds for one attempt.
	asked bool
	// path is the lock file of the chosen one; folders and name find it again when
	// it was restarted.
	path, name string
	folders    []string
}

// remember keeps what the chosen editor is known by.
func (a *aim) remember(c lock.Candidate) {
	a.path, a.name, a.folders = c.Path, c.File.Name, c.File.Folders
}

// choose returns the candidate to dial. Those that refused their own token are
// left out until their lock holds another one.
func (a aim) choose(found []lock.Candidate, refused map[unwelcome]int) (lock.Candidate, bool) {
	match := func(ok func(lock.Candidate) bool) (lock.Candidate, bool) {
		i := slices.IndexFunc(found, func(c lock.Candidate) bool {
			return c.Usable && (a.asked || !c.Gone) && refused[unwelcome{c.Path, c.File.Credential()}] < mostRefused && ok(c)
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

// whyNone says why choose returned no editor. The one that has the folder open
// comes first: a person asks about it.
func whyNone(found []lock.Candidate, refused map[unwelcome]int) string {
	i := slices.IndexFunc(found, func(c lock.Candidate) bool { return c.Folder != "" })
	if i < 0 {
		return "no editor has this folder open"
	}
	c := found[i]
	switch {
	case refused[unwelcome{c.Path, c.File.Credential()}] >= mostRefused:
		return nameOf(c) + " has this folder open, but it and its lock file do not agree on the token: reload its window"
	case c.Why == "":
		return nameOf(c) + " has this folder open, but another editor was chosen: /ide connect links the best"
	}
	return nameOf(c) + " has this folder open, but: " + c.Why
}

// unwelcome is a token that an editor did not take, and the lock that it was from.
type unwelcome struct{ path, token string }
