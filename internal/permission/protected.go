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

	"golang.org/x/text/unicode/norm"

	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// protectedJSON is the list of protected files. The extension for VS Code embeds the same
// file.
//
//go:embed protected.json
var protectedJSON []byte

// group is a kind of protected files. All names in it are folded.
type group struct {
	Why string `json:"why"`
	// Above also protects files below such a folder outside the workspace, as when the
	// program was started inside one.
	Above    bool     `json:"above"`
	Folders  []string `json:"folders"`  // the folder and everything in it
	Files    []string `json:"files"`    // by name, anywhere
	Prefixes []string `json:"prefixes"` // of a file's name
	Suffixes []string `json:"suffixes"` // of a file's name
	Paths    []string `json:"paths"`    // the end of a path or, with / at the end, a folder
}

var groups = sync.OnceValue(func() []group { return list[[]group](protectedJSON) })

// list returns a list of this package's own.
func list[T any](data []byte) (all T) {
	if err := json.Unmarshal(data, &all); err != nil {
		panic(fmt.Sprintf("a list of files: %v", err)) // a test reads it
	}
	return all
}

// Protected explains why changing the file, which need not exist yet, could run code or
// widen permissions; "" means it could not. name is relative to the workspace, with
// forward slashes, or absolute; abs is the resolved path, and home the program's own
// folder. Case is ignored, as some file systems ignore it.
func Protected(name, abs, home string) string {
	if why := listed(name); why != "" {
		return why
	}
	if home != "" && subpath.In(home, abs) {
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

// MakesGit explains why the files at the absolute paths, written together, make a folder a
// git folder; "" means they do not.
func MakesGit(paths []string) string {
	dirs := map[string]bool{}            // the folders that get one of gitParts
	made := map[string]map[string]bool{} // those parts, by the folded name of the folder
	for _, abs := range paths {
		for dir, part := splitLast(abs); part != ""; dir, part = splitLast(dir) {
			name, folder := fold(part), fold(dir)
			if !slices.Contains(gitParts, name) {
				continue
			}
			if made[folder] == nil {
				made[folder] = map[string]bool{}
			}
			dirs[dir], made[folder][name] = true, true
		}
	}
	for dir := range dirs {
		if isGit(func(part string) bool { return made[fold(dir)][part] || hasGitPart(dir, part) }) {
			return makesGit
		}
	}
	return ""
}

// listed returns why the list protects a file, or "".
func listed(name string) string {
	name = fold(name)
	for _, g := range groups() {
		if g.holds(name) {
			return g.Why
		}
	}
	return ""
}

// holds reports whether the file with the given folded path is in the group.
func (g group) holds(name string) bool {
	path, parts := "/"+name, strings.Split(name, "/")
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
	return slices.ContainsFunc(g.Paths, func(p string) bool {
		if !strings.HasSuffix(p, "/") {
			return strings.HasSuffix(path, p) && path[len(path)-len(p)-1] == '/'
		}
		for rest := path; ; {
			at := strings.Index(rest, p)
			if at < 0 || at > 0 && rest[at-1] == '/' {
				return at > 0
			}
			rest = rest[at+1:]
		}
	})
}

// gitParts are the folded names by which git recognises its folders: bare repositories, and
// those of submodules and worktrees.
var gitParts = []string{"head", "commondir", "objects", "refs"}

const makesGit = "it makes its folder a git folder, and git may run what is in it"

// isGit reports whether a folder that has these of gitParts is one of git's.
func isGit(with func(part string) bool) bool {
	return with("head") && (with("commondir") || with("objects") && with("refs"))
}

// hasGitPart reports whether a folder has one of gitParts, as git writes it.
func hasGitPart(dir, part string) bool {
	if part == "head" {
		part = "HEAD"
	}
	_, err := os.Lstat(filepath.Join(dir, part))
	return err == nil
}

// splitLast splits a path at its last part, which is empty for a root.
func splitLast(path string) (dir, part string) {
	dir, part = filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
	return dir, part
}

// gitDir explains why the file abs is in a folder that git takes for a repository,
// whatever its name, or makes it one; "" means it is not.
func gitDir(abs string) string {
	for dir, part := splitLast(abs); part != ""; dir, part = splitLast(dir) {
		on := func(part string) bool { return hasGitPart(dir, part) }
		folded := fold(part)
		switch {
		case !isGit(func(part string) bool { return folded == part || on(part) }):
		case isGit(on):
			return "it is in a git folder, and git may run what is in it"
		default:
			return makesGit
		}
	}
	return ""
}

// fold maps paths that some file system takes for the same to one path, with forward
// slashes: it may ignore case, how accents are written and characters that do not show, and Windows
// ignores certain endings.
func fold(name string) string {
	if isFolded(name) {
		return name
	}
	volume, rest := cutVolume(strings.ReplaceAll(name, `\`, "/"))
	rest = strings.Map(func(r rune) rune {
		if sanitize.IsHidden(r) {
			return -1
		}
		return r
	}, norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFD.String(rest)))))
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		stem, _, _ := strings.Cut(part, ":") // an NTFS stream of the file
		if stem = strings.TrimRight(stem, ". "); stem == "" {
			continue
		}
		if stem == "git~1" { // the short name of .git on Windows
			stem = ".git"
		}
		parts[i] = stem
	}
	return strings.ToLower(volume) + strings.Join(parts, "/")
}

// isFolded reports whether fold plainly changes nothing, as for nearly all files that a
// search looks at.
func isFolded(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c <= ' ', c >= 0x7f, c == ':', c == '\\', c == '~', 'A' <= c && c <= 'Z', c == '.' && (i+1 == len(name) || name[i+1] == '/'):
			return false
		}
	}
	return true
}

// cutVolume splits a path with forward slashes behind the drive of Windows, such as C:. It
// drops the prefix of a path in its longest form, such as //?/C:.
func cutVolume(path string) (volume, rest string) {
	if len(path) >= 4 && path[:2] == "//" && (path[2] == '?' || path[2] == '.') && path[3] == '/' {
		path = path[4:]
	}
	if subpath.HasDrive(path) && (len(path) == 2 || path[2] == '/') {
		return path[:2], path[2:]
	}
	return "", path
}
