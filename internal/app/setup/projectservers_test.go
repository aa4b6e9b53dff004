package setup

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestProgramsOfServers: a change of a program that the command or a variable names changes the
// hash of a server.
func TestProgramsOfServers(t *testing.T) {
	for name, entry := range map[string]config.MCPServer{
		"x.js":               {Command: []string{"node", "./x.js"}},
		"preload.js":         {Command: []string{"node"}, Env: map[string]string{"NODE_OPTIONS": "--require ./preload.js", "MEMORY": "data.json"}},
		"server.tsx":         {Command: []string{"node", "./server.tsx"}},
		"x.jar":              {Command: []string{"java", "-jar", "x.jar"}},
		"my tools/server.js": {Command: []string{"node", "my tools/server.js"}},
		"server.go":          {Command: []string{"go", "run", "server.go"}},
		"srv":                {Command: []string{"python3", "srv"}},
		"a/b.cts":            {Command: []string{"sh", "-c", "cd a && exec node --import=./b.cts"}},
	} {
		dir := filepath.Join(t.TempDir(), "my project")
		scratch.Mkdir(t, filepath.Dir(filepath.Join(dir, name)))
		scratch.Write(t, filepath.Join(dir, "data.json"), "{}")
		absolute := config.MCPServer{Command: []string{"sh", "-c", "python3 '" + dir + "/" + name + "'"}}
		for _, entry := range []config.MCPServer{entry, absolute} {
			var hashes []string
			for _, text := range []string{"one", "two"} {
				scratch.Write(t, filepath.Join(dir, name), text)
				hash, scripts := hashOf(dir, entry)
				if !slices.Contains(scripts, name) || slices.Contains(scripts, "data.json") && !slices.Contains(scripts, ".") {
					t.Errorf("%s: %q", name, scripts)
				}
				hashes = append(hashes, hash)
			}
			if hashes[0] == hashes[1] {
				t.Errorf("%s: the change is not noticed", name)
			}
		}
	}
}
