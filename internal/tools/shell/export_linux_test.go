package shell

import (
	"path/filepath"
	"testing"
)

// HasGroups reports whether the system lets us make groups of processes.
func HasGroups() bool { return groupsWork() }

// WithoutGroups makes the system look like one that lets us make no groups of processes.
func WithoutGroups(t *testing.T) {
	before := groupsWork
	groupsWork = func() bool { return false }
	t.Cleanup(func() { groupsWork = before })
}

// GroupFolders returns the folders of the groups of commands.
func GroupFolders(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(ownGroup(), groupName+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
