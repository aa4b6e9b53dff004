package statefile

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// maxBase is the part of a folder's own name that FolderName keeps.
const maxBase = 40

// FolderName returns the name under which state about the folder dir, an absolute path, is
// kept. It ends in a hash, which makes it unique, and begins with the last element of dir,
// which makes it recognizable. It is valid as part of a file name whatever dir is.
func FolderName(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, filepath.Base(dir))
	return name[:min(len(name), maxBase)] + "-" + hex.EncodeToString(sum[:6])
}
