package permission

import (
	_ "embed" // the list of protected files
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// protectedJSON is the list of protected files. The extension for VS Code is built
// with the same file.
//
//go:embed protected.json
var protectedJSON []byte

// group is a kind of protected files. All names are folded.
type group struct {
	Why string `json:"why"`
	// Above protects also what lies below such a folder outside the workspace, as
	// where the program was started in one.
	Above    bool     `json:"above"`
	Folders  []string `json:"folders"`  // the folder, and all that is in it
	Files    []string `json:"files"`    // by name, anywhere
	Prefixes []string `json:"prefixes"` // of a file's name
	Suffixes []string `json:"suffixes"` // of a file's name
	Paths    []string `json:"paths"`    // the end of a path or, with / at the end, a folder
}

var groups = sync.OnceValue(func() []group {
	var all []group
	if err := json.Unmarshal(protectedJSON, &all); err != nil {
		panic(fmt.Sprintf("protected.json: %v", err)) // a test reads it
	}
	return all
})

// Protected says why a change of the file could run code or widen what is allowed,
// whether the file exists yet or not; it is empty if it could not. name is relative
// to the workspace, with forward slashes, or absolute; abs is the resolved path, and
// home the program's own folder. Case does not count: on some file systems it makes
// no difference.
func Protected(name, abs, home string) string {
	if why := listed(name); why != "" {
		return why
	}
	if rel, err := filepath.Rel(home, abs); home != "" && err == nil && filepath.IsLocal(rel) {
		return "it belongs to this program"
	}
	if abs == "" {
		return ""
	}
	dirs := strings.Split(fold(filepath.ToSlash(filepath.Dir(abs))), "/")
	for _, g := range groups() {
		if g.Above && slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(g.Folders, d) }) {
			return g.Why
		}
	}
	return gitDir(abs)
}

// listed says why the list protects a file.
func listed(name string) string {
	parts := strings.Split(fold(name), "/")
	for _, g := range groups() {
		if g.holds(parts) {
			return g.Why
		}
	}
	return ""
}

// holds reports whether the file is in the group. parts is its folded path.
func (g group) holds(parts []string) bool {
	base := parts[len(parts)-1]
	in := func(list []string, match func(string, string) bool) bool {
		return slices.ContainsFunc(list, func(s string) bool { return match(base, s) })
	}
	switch {
	case slices.Contains(g.Files, base), in(g.Prefixes, strings.HasPrefix), in(g.Suffixes, strings.HasSuffix):
		return true
	case slices.ContainsFunc(parts[:len(parts)-1], func(dir string) bool { return slices.Contains(g.Folders, dir) }):
		return true
	}
	path := "/" + strings.Join(parts, "/")
	return slices.ContainsFunc(g.Paths, func(p string) bool {
		if strings.HasSuffix(p, "/") {
			return strings.Contains(path, "/"+p)
		}
		return strings.HasSuffix(path, "/"+p)
	})
}

// gitDir says why a change of the file abs is one of git's own folder, by whatever
// name: git takes a folder for its own by what is in it. A bare repository, a
// submodule's and a worktree's folder are such ones.
func gitDir(abs string) string {
	for dir, part := filepath.Split(abs); part != ""; dir, part = filepath.Split(strings.TrimRight(dir, string(filepath.Separator))) {
		has := func(name string) bool {
			_, err := os.Lstat(filepath.Join(dir, name))
			return err == nil
		}
		with := func(name string) bool { return fold(part) == strings.ToLower(name) || has(name) }
		switch {
		case !with("HEAD") || !with("commondir") && (!with("objects") || !with("refs")):
		case has("HEAD") && (has("commondir") || has("objects") && has("refs")):
			return "it is in a folder of git, which may run what is in it"
		default:
			return "it makes its folder one of git, which may run what is in it"
		}
	}
	return ""
}

// NeverRead says why the file at the absolute path is not read, whatever the
// answer; it is empty if it may be asked about. The files of a process show its
// memory and its environment, where keys are: this program's first of all. home is
// the program's own folder, which may lie in the workspace.
func NeverRead(abs, home string) string {
	if home != "" && fold(abs) == fold(filepath.Join(home, "credentials.json")) {
		return "it holds the keys of this program"
	}
	rest, ok := strings.CutPrefix(filepath.ToSlash(abs), "/proc/")
	pid, _, inside := strings.Cut(rest, "/")
	if ok && inside && pid != "" && strings.Trim(pid, "0123456789") == "" {
		return "it shows the inside of a process, and the keys that are in it"
	}
	return ""
}

// Secret reports whether keys are usually kept at the path, or below it.
func Secret(name string) bool {
	parts := strings.Split(fold(filepath.ToSlash(name)), "/")
	for _, dir := range parts {
		switch dir {
		case ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".agent", ".password-store":
			return true
		}
	}
	base := parts[len(parts)-1]
	switch base {
	case ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".vault-token", "credentials", "shadow":
		return true
	}
	switch filepath.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".kdbx":
		return true
	}
	return strings.HasPrefix(base, ".env") || strings.HasPrefix(base, "id_")
}

// fold makes names equal that a file system may take for the same: it may ignore case
// and characters that do not show, and Windows what ends a name.
func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if sanitize.IsHidden(r) {
			return -1
		}
		return r
	}, strings.ToLower(strings.ToUpper(name)))
	parts := strings.Split(name, "/")
	for i, part := range parts {
		stem, _, _ := strings.Cut(part, ":") // a stream of the file
		if stem = strings.TrimRight(stem, ". "); stem == "" {
			continue
		}
		if stem == "git~1" { // its short name
			stem = ".git"
		}
		parts[i] = stem
	}
	return strings.Join(parts, "/")
}
