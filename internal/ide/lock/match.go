package lock

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// match finds each candidate's deepest folder that holds the working directory.
func (s Search) match(found []Candidate) {
	dirs := s.dirs()
	ancestors := s.Ancestors()
	for i := range found {
		c := &found[i]
		c.fit.ancestor = c.File.PID > 1 && slices.Contains(ancestors, c.File.PID) && !c.File.InWindows
		c.fit.depth = -1
		for _, folder := range slices.Concat(c.File.Folders, c.File.RealFolders) {
			for _, written := range s.notations(folder) {
				if d := depthWithin(written, dirs); d > c.fit.depth {
					c.Folder, c.fit.depth = folder, d
				}
			}
		}
	}
}

// dirs returns the working directory under all its names.
func (s Search) dirs() []string {
	dirs := []string{filepath.Clean(s.Dir)}
	if resolved, err := filepath.EvalSymlinks(s.Dir); err == nil {
		dirs = append(dirs, resolved)
	}
	if logical := s.Env("PWD"); filepath.IsAbs(logical) && regularfile.Same(logical, s.Dir) {
		dirs = append(dirs, filepath.Clean(logical))
	}
	return dirs
}

// notations returns the forms of a folder's path on this system, including its real
// path.
func (s Search) notations(folder string) []string {
	var all []string
	for _, written := range translate(folder, s.wsl(), runtime.GOOS == "windows") {
		if !filepath.IsAbs(written) {
			continue
		}
		all = append(all, filepath.Clean(written))
		if resolved, err := filepath.EvalSymlinks(written); err == nil && resolved != filepath.Clean(written) {
			all = append(all, resolved)
		}
	}
	return all
}

// translate returns a path and its form on this side of the border between Windows and
// the Linux within it.
func translate(path string, wsl, windows bool) []string {
	all := []string{path}
	slashed := strings.ReplaceAll(path, `\`, "/")
	drive, rest := driveOf(slashed)
	switch {
	case wsl && drive != "":
		all = append(all, "/mnt/"+strings.ToLower(drive)+rest)
	case windows && drive != "":
		all = append(all, strings.ToUpper(drive)+":"+strings.ReplaceAll(rest+"/", "/", `\`))
	case wsl:
		for _, share := range []string{"//wsl$/", "//wsl.localhost/"} {
			if inside, ok := strings.CutPrefix(slashed, share); ok {
				_, path, _ := strings.Cut(inside, "/")
				all = append(all, "/"+path)
			}
		}
	}
	return all
}

// driveOf splits D:/x, /mnt/d/x and /d/x into the drive and /x.
func driveOf(path string) (drive, rest string) {
	if len(path) >= 2 && path[1] == ':' && isLetter(path[0]) {
		return path[:1], path[2:]
	}
	path = strings.TrimPrefix(path, "/mnt")
	if len(path) >= 2 && path[0] == '/' && isLetter(path[1]) && (len(path) == 2 || path[2] == '/') {
		return path[1:2], path[2:]
	}
	return "", ""
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// depthWithin returns the depth of folder if it holds one of dirs, otherwise -1. It
// compares components, not characters.
func depthWithin(folder string, dirs []string) int {
	want := components(folder)
	for _, dir := range dirs {
		have := components(dir)
		if len(have) >= len(want) && slices.EqualFunc(have[:len(want)], want, sameName) {
			return len(want)
		}
	}
	return -1
}

func components(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// sameName compares names like the usual file systems of this operating system.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
