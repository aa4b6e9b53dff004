package home

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// OfUser reports whether name, a path in the folder .agent or .claude of the folder dir, is the
// user's own and no project's: it is in the program's own folder home, or in .claude of the home
// directory.
func OfUser(dir, name, home string) bool {
	top, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	at := filepath.Join(dir, top)
	user, err := os.UserHomeDir()
	return regularfile.Same(at, home) || err == nil && regularfile.Same(at, filepath.Join(user, ".claude"))
}
