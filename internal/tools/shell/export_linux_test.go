package shell

import "testing"

// HasGroups reports whether the system lets us make groups of processes.
func HasGroups() bool { return groupsWork() }

// WithoutGroups makes the system look like one that lets us make no groups of processes.
func WithoutGroups(t *testing.T) {
	before := groupsWork
	groupsWork = func() bool { return false }
	t.Cleanup(func() { groupsWork = before })
}
