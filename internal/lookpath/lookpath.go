// Package lookpath finds and starts the programs that this one starts. It guarantees that a
// name alone never starts a program of the project that a session works in, or one that a
// path relative to some folder leads to: such a program may come from a stranger, and would
// run without a question, some with keys.
package lookpath

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/gitignore"
	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// Search looks programs up in the folders of PATH, except those of projects.
type Search struct {
	// Dirs are the folders of the session; without any, the current folder is. They are
	// avoided, as are the git repositories that hold them, the node_modules above them, and
	// every node_modules/.bin.
	Dirs []string
	// Path is the value of PATH; empty means that of this process.
	Path string
}

func (s Search) path() string { return cmp.Or(s.Path, os.Getenv("PATH")) }

// projects holds the folders in which no program is found, by identity: a file system may
// know each by many names.
type projects []fs.FileInfo

func (s Search) projects() (all projects) {
	dirs := s.Dirs
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	home, _ := os.UserHomeDir() // without one, no folder is it
	for _, dir := range dirs {
		dir, err := filepath.Abs(dir)
		if err != nil {
			continue // the current folder is gone
		}
		all.add(dir)
		if target, err := filepath.EvalSymlinks(dir); err == nil {
			dir = target
		}
		for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
			all.add(filepath.Join(at, "node_modules"))
		}
		for at := dir; ; at = filepath.Dir(at) {
			top, ok := gitignore.Repository(at)
			if at = top; !ok || at == filepath.Dir(at) || at == home {
				break // a repository of a person's settings holds programs of theirs
			}
			all.add(at)
			all.add(mainWorktree(at))
		}
	}
	return all
}

func (all *projects) add(dir string) {
	if info, err := os.Stat(dir); err == nil {
		*all = append(*all, info)
	}
}

// mainWorktree returns the folder of the repository of which dir is a linked worktree, or "".
func mainWorktree(dir string) string {
	data, err := regularfile.ReadFile(filepath.Join(dir, ".git"), 4096)
	if err != nil {
		return "" // a folder
	}
	gitDir := filepath.ToSlash(strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:")))
	top, _, linked := strings.Cut(gitDir, "/.git/worktrees/")
	switch {
	case !linked:
		return ""
	case filepath.IsAbs(top):
		return top
	}
	return filepath.Join(dir, top)
}

// Find returns the path of a program. A name with a separator must be absolute.
func (s Search) Find(name string) (string, error) {
	if filepath.Base(name) != name {
		if !filepath.IsAbs(name) {
			return "", fmt.Errorf("%s is a relative path, which means another program in each folder: write it in full", name)
		}
		return exec.LookPath(name)
	}
	path, own := s.look(name)
	switch {
	case path != "":
		return path, nil
	case own != "":
		return "", fmt.Errorf("the only %s on PATH is %s, which is not started by its name, as it belongs to a project: write its path in full", name, own)
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Own returns the program of a project that a shell would start by name in place of that
// which Find returns, or "".
func (s Search) Own(name string) string {
	_, own := s.look(name)
	return own
}

// look returns the program called name, and the first one of a project before it on PATH.
func (s Search) look(name string) (path, own string) {
	all := s.projects()
	for _, dir := range filepath.SplitList(s.path()) {
		path, err := exec.LookPath(filepath.Join(s.inFolder(dir), name))
		if err != nil {
			continue
		}
		target, err := filepath.EvalSymlinks(path)
		if err == nil && all.outside(dir) && !all.hold(target) {
			return path, own
		}
		own = cmp.Or(own, path)
	}
	return "", own
}

// inFolder returns a folder on PATH as an absolute path. Shells take a relative one, and an
// empty one, from the folder that they run in.
func (s Search) inFolder(dir string) string {
	if !filepath.IsAbs(dir) && len(s.Dirs) > 0 {
		dir = filepath.Join(s.Dirs[0], dir)
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// Environ returns env with a PATH that lacks the folders in which s finds nothing, for
// programs that look up others.
func (s Search) Environ(env []string) []string {
	env = slices.Clone(env)
	for i, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if name != "PATH" && (runtime.GOOS != "windows" || !strings.EqualFold(name, "PATH")) {
			continue
		}
		all := s.projects()
		dirs := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool { return !all.outside(dir) })
		env[i] = name + "=" + strings.Join(dirs, string(filepath.ListSeparator))
	}
	return env
}

// outside reports whether programs are looked up in a folder on PATH.
func (all projects) outside(dir string) bool {
	if !filepath.IsAbs(dir) || all.hold(dir) {
		return false
	}
	target, err := filepath.EvalSymlinks(dir)
	return err != nil || !all.hold(target)
}

// hold reports whether a path leads through one of the folders, by whatever name.
func (all projects) hold(path string) bool {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if filepath.Base(at) == ".bin" && filepath.Base(filepath.Dir(at)) == "node_modules" {
			return true
		}
		info, err := os.Stat(at)
		if err == nil && slices.ContainsFunc(all, func(dir fs.FileInfo) bool { return os.SameFile(dir, info) }) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// errRelative is the error of starting a program that was not looked up.
var errRelative = errors.New("its path is not absolute")

// Command returns the command for a program, whose absolute path Find has returned or is
// known. Any other fails to start.
func Command(path string, args ...string) *exec.Cmd { return checked(exec.Command(path, args...)) }

// CommandContext is Command for a program that is killed when ctx ends.
func CommandContext(ctx context.Context, path string, args ...string) *exec.Cmd {
	return checked(exec.CommandContext(ctx, path, args...))
}

func checked(cmd *exec.Cmd) *exec.Cmd {
	if name := cmd.Args[0]; !filepath.IsAbs(name) {
		cmd.Err = fmt.Errorf("start %s: %w", name, errRelative)
	}
	return cmd
}
