package permission

import (
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// settingsFiles are the names of files in which git keeps the addresses of repositories.
var settingsFiles = []string{".gitconfig", ".gitmodules", "config", "config.worktree"}

// maxSettings is the size up to which such a file is read, in bytes.
const maxSettings = 1 << 20

// credential matches a setting of git that holds a key: an address with a password, or with
// a user's name that is long enough to be a token, a header, or a value that is named so.
var credential = lazyregexp.New(`(?im)[a-z]://[^\s/@:"']*:[^\s/@"']+@|` +
	`https?://[^\s/@:"']{20,}@|` +
	`^[^\n#;=]*(pass|token|secret|extraheader)[^\n=]*=[ \t]*\S|` +
	`=.*\b(password|authorization)[=:]`)

// UsuallyHolds is the answer of Keys about a file whose name tells it.
const UsuallyHolds = "usually holds keys"

// Keys explains why a file of the workspace is read only after a question, as the predicate
// of a sentence about it: it usually holds keys, or does so as settings of git. "" means
// neither. name is relative to the workspace, abs absolute; home is the program's own folder.
func Keys(name, abs, home string) string {
	switch {
	case secretInside(name, abs, home):
		return UsuallyHolds
	case Credentials(abs):
		return "holds a password or token of git"
	}
	return ""
}

// MoveReveals explains which keys are read without a question once the file at from, which
// is called name in the workspace, is moved to the path to, called toName; "" means none.
// home is the program's own folder.
func MoveReveals(name, from, toName, to, home string) string {
	if secretInside(toName, to, home) || Credentials(from) && isSettings(to) {
		return ""
	}
	return Keys(name, from, home)
}

// Credentials reports whether the file at the absolute path has the name of settings of git,
// and a password or token in it, as a clone from an address with one does. Without them,
// such a file is read as any other.
func Credentials(abs string) bool {
	return isSettings(abs) && hasCredential(abs)
}

func isSettings(abs string) bool { return slices.Contains(settingsFiles, fold(filepath.Base(abs))) }

// hasCredential reports whether a password or token is in the file, or may be.
func hasCredential(abs string) bool {
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
	return err != nil || len(text) > maxSettings || credential.Match(text)
}
