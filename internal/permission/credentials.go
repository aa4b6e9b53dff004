package permission

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
)

// settingsFiles are the names of files in which git keeps the addresses of repositories.
var settingsFiles = []string{".gitconfig", ".gitmodules", "config", "config.worktree"}

// maxSettings is the size up to which such a file is read, in bytes.
const maxSettings = 1 << 20

// credential matches a setting of git that holds a key: an address with a password, or with
// a user's name that is long enough to be a token, a header, or a value that is named so.
var credential = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)[a-z]://[^\s/@:"']*:[^\s/@"']+@|` +
		`https?://[^\s/@:"']{20,}@|` +
		`^[^\n#;=]*(pass|token|secret|extraheader)[^\n=]*=[ \t]*\S|` +
		`=.*\b(password|authorization)[=:]`)
})

// Credentials reports whether the file at the absolute path has the name of settings of git,
// and a password or token in it, as a clone from an address with one does. Without them,
// such a file is read as any other.
func Credentials(abs string) bool {
	if !slices.Contains(settingsFiles, fold(filepath.Base(abs))) {
		return false
	}
	info, err := os.Stat(abs)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(abs)
	if err != nil {
		return false // a read of it fails too
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	return err != nil || len(text) > maxSettings || credential().Match(text)
}
