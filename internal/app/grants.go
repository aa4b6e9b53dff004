package app

import (
	"slices"

	"github.com/bb2d0cf4/agent/internal/permission"
)

// Grant is a permission that the user gave for this session.
type Grant struct {
	What string // for people; not sanitized
	Left string // how long it lasts
}

// Grants returns the permissions of this session: the rules that answers made, and the
// files outside the workspace that may be read.
func (a *App) Grants() []Grant {
	var all []Grant
	for _, r := range a.Policy.Grants() {
		all = append(all, Grant{r.String(), r.Life.String()})
	}
	for _, path := range a.Root.Outside().Allowed() {
		g := Grant{reading(path), permission.Life{}.String()}
		if !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}

// RevokeGrant takes back the grants that are described by what, and reports whether there
// was one. Others may have come or gone since.
func (a *App) RevokeGrant(what string) bool {
	done := false
	for _, r := range a.Policy.Grants() {
		if r.String() == what {
			done = a.Policy.Revoke(r) || done
		}
	}
	for _, path := range a.Root.Outside().Allowed() {
		if reading(path) == what {
			done = a.Root.Outside().Revoke(path) || done
		}
	}
	return done
}

func reading(path string) string { return permission.Reading(path).String() }
