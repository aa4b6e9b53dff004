package cli

import (
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestProgramsOfServers: a change of a program that the command or a variable names changes the
// hash of a server.
func TestProgramsOfServers(t *testing.T) {
	dir := t.TempDir()
	for name, entry := range map[string]config.MCPServer{
		"command":  {Command: []string{"node", "./x.js"}},
		"variable": {Command: []string{"node"}, Env: map[string]string{"NODE_OPTIONS": "--require ./x.js"}},
	} {
		var hashes []string
		for _, text := range []string{"one", "two"} {
			scratch.Write(t, filepath.Join(dir, "x.js"), text)
			hash, scripts, err := hashOf(dir, entry)
			if err != nil || len(scripts) != 1 || scripts[0] != "x.js" {
				t.Errorf("%s: %q, %v", name, scripts, err)
			}
			hashes = append(hashes, hash)
		}
		if hashes[0] == hashes[1] {
			t.Errorf("%s: the change is not noticed", name)
		}
	}
}
