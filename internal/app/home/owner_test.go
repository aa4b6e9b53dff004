package home

import (
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// The folders of the user are no project's, by whatever name they are reached.
func TestOfUser(t *testing.T) {
	user := scratch.Dir(t, map[string]string{".agent/x": "", ".claude/skills/x": "", "project/.agent/x": "", "project/.claude/x": ""})
	scratch.SetHome(t, user)
	linked := filepath.Join(user, "linked")
	scratch.Symlink(t, user, linked)
	own := filepath.Join(user, ".agent")
	for _, c := range []struct {
		dir, name string
		want      bool
	}{
		{user, ".agent/skills", true},
		{user, ".claude/skills", true},
		{linked, ".claude/settings.json", true},
		{filepath.Join(user, "project"), ".agent/skills", false},
		{filepath.Join(user, "project"), ".claude/agents", false},
		{filepath.Join(user, "missing"), ".claude/agents", false},
	} {
		if got := OfUser(c.dir, c.name, own); got != c.want {
			t.Errorf("%s in %s: %v", c.name, c.dir, got)
		}
	}
}
