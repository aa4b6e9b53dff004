package safecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// The bounds of a list of the files of which a command of git prints lines.
const (
	listTime = 2 * time.Second
	listSize = 4 << 20
)

// repository returns why a command of git that compares files of the repository of p, or prints lines of
// them, needs a question, or "": the settings can make git run a program, or look at files elsewhere, or the lines
// may be of a file that holds keys.
func (p Place) repository(s step) string {
	top, why := p.top()
	if why != "" {
		return why
	}
	dir := filepath.Join(top, ".git")
	for _, name := range []string{filepath.Join(top, ".gitmodules"), filepath.Join(dir, "modules"), filepath.Join(dir, "commondir"), filepath.Join(dir, "config.worktree")} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return "git also reads the settings of " + filepath.Base(name) + ", which are not judged"
		}
	}
	for _, name := range gitSettings(dir) {
		if why := judgeSettings(name); why != "" {
			return why
		}
	}
	for _, name := range s.reads.Files {
		if !within(top, p.abs(name)) {
			return name + " is outside of the repository"
		}
	}
	if !s.reads.Prints {
		return ""
	}
	names, err := p.list(s)
	if err != nil {
		return fmt.Sprintf("the names of the files that it prints lines of are not known: %v", err)
	}
	for _, name := range names {
		if why := p.old(name, filepath.Join(top, name)); why != "" {
			return why
		}
	}
	return ""
}

// list returns the names of the files, relative to the top of the repository, of which a command of git prints
// lines, and words that are no names.
func (p Place) list(s step) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), listTime, fmt.Errorf("git took more than %v to list them", listTime)) //nolint:forbidigo // a judgement takes no context, and this bounds it
	defer cancel()
	out, stderr := child.Buffer{Limit: listSize}, child.Buffer{Limit: 1 << 10}
	cmd := lookpath.CommandContext(ctx, s.name, programs.GitList(s.args)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, slices.Concat(p.Env, programs.Env), &out, &stderr
	switch err := child.Run(cmd, child.Memory); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("git: %w: %s", err, firstLine(string(stderr.Bytes())))
	}
	names := strings.Split(string(out.Bytes()), "\x00")
	for i, name := range names {
		_, file, versioned := strings.Cut(name, "^{commit}:")
		if versioned {
			names[i] = file
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// old returns why lines of the file with a name in a repository, now or once at the path abs, need a
// question, or "".
func (p Place) old(name, abs string) string {
	below := abs
	for _, root := range p.Roots {
		if subpath.In(root, abs) {
			below = strings.TrimPrefix(abs, root)
		}
	}
	if permission.MayHoldKeys(name) || permission.MayHoldKeys(below) || permission.NeverRead(abs, p.Home) != "" || p.Home != "" && subpath.In(p.Home, abs) {
		return name + " may hold keys, or did in another version"
	}
	return ""
}

// top returns the folder of the repository around p.Dir.
func (p Place) top() (dir, why string) {
	for dir = p.Dir; slices.ContainsFunc(p.Roots, func(root string) bool { return within(root, dir) }); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err == nil {
			return "", "a folder on the way to the repository may be one itself"
		}
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil || !info.IsDir():
			return "", "the settings of git are in another folder"
		}
		return dir, ""
	}
	return "", "the folder is not the one of a repository"
}

// gitSettings returns the files in which git looks for settings.
func gitSettings(dir string) []string {
	files := []string{
		filepath.Join(dir, "config"), "/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig", "/usr/etc/gitconfig",
		"/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig", "/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
	}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"))
	}
	if xdg := os.Getenv("XDG_CONFIG_HOME"); xdg != "" {
		files = append(files, filepath.Join(xdg, "git/config"))
	}
	return files
}

// judgeSettings returns why a file of git's settings needs a question, or "": it has a filter, or
// may include one, or names another folder for the files. Texts are searched for: a
// parser that knows less than git's could miss something.
func judgeSettings(name string) string {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return name + " cannot be read, so what git runs is unknown"
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return name + " cannot be read, so what git runs is unknown"
	}
	text := strings.ToLower(string(data))
	for _, word := range []string{"filter", "include", "worktree", "promisor", "partialclone", "objectformat"} {
		if strings.Contains(text, word) {
			return name + " can make git run a program, by " + word
		}
	}
	return ""
}
