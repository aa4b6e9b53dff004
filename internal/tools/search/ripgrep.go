package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/gitignore"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// Bounds of rg; beyond them, we search without it.
const (
	ripgrepTime  = 30 * time.Second
	ripgrepNames = 256 << 20 // bytes of names
)

// ripgrep returns the files that may match according to rg, and those that are too large
// to search, sorted. ok is false if rg fails, or
// cannot answer for this folder like our own walk.
func (f Folder) ripgrep(ctx context.Context, q Query) (names []string, ok bool) {
	if q.Ripgrep == "" || f.Abs == "" {
		return nil, false
	}
	_, inRepository := gitignore.Repository(f.Abs)
	if !inRepository && f.Abs != f.Root {
		return nil, false // rg would look for .gitignore files above the workspace
	}
	tree, err := parse(q.Regex)
	if err != nil || q.Encoding.Wide() {
		return nil, false
	}
	single := text.SingleBytesOf(q.Encoding)
	if q.Asked != nil && q.Asked(f.Abs) != "" { // an editor that may know the encoding of any file
		single = nil
	}
	large, ok := f.fit(ctx, q.Seen)
	if !ok {
		return nil, false
	}
	args := ripgrepArgs(q.FilePattern, inRepository)
	if len(large) > 0 { // else rg need not check sizes, a fifth of its time for small files
		args = append(args, "--max-filesize", strconv.Itoa(MaxFile))
	}
	args = append(args, "--regexp", forRipgrep(tree, single), "--", "./")
	ctx, cancel := context.WithTimeout(ctx, ripgrepTime)
	defer cancel()
	if names, ok = f.runRipgrep(ctx, q.Ripgrep, args); !ok {
		return nil, false
	}
	names = append(names, large...)
	slices.Sort(names)
	return slices.Compact(names), true
}

// runRipgrep returns the names that rg prints. ok is false if rg fails or ctx
// ends.
func (f Folder) runRipgrep(ctx context.Context, program string, args []string) (names []string, ok bool) {
	cmd := lookpath.CommandContext(ctx, program, args...)
	cmd.Dir = f.Abs
	cmd.Env = []string{"LC_ALL=C.UTF-8"} // not ours: it holds keys and rg's own settings
	out := child.Buffer{Limit: ripgrepNames}
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	err := child.Run(cmd, child.Memory)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, false
	}
	names, err = readNames(bytes.NewReader(out.Bytes()))
	return names, err == nil
}

// ripgrepArgs makes rg print the names of files with a match among those that walk
// returns; scan decides which lines match.
func ripgrepArgs(filePattern string, parents bool) []string {
	args := []string{
		"--no-config", "--files-with-matches", "--null", "--hidden", "--no-messages", "--no-mmap",
		"--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-global", "--no-require-git", "--glob", "!.git",
	}
	if !parents {
		args = append(args, "--no-ignore-parent")
	}
	if isPlainSuffix(filePattern) {
		args = append(args, "--type-add", "wanted:"+filePattern, "--type", "wanted")
	}
	return args
}

// isPlainSuffix reports whether a file pattern has the form *.go, which means the same to
// rg and us.
func isPlainSuffix(pattern string) bool {
	ext, ok := strings.CutPrefix(pattern, "*.")
	if !ok || ext == "" {
		return false
	}
	for i := range len(ext) {
		if !isWord(ext[i]) && ext[i] != '.' {
			return false
		}
	}
	return true
}

// readNames reads names terminated by NUL.
func readNames(r io.Reader) ([]string, error) {
	var names []string
	in := bufio.NewReader(r)
	for {
		name, err := in.ReadString(0)
		switch {
		case errors.Is(err, io.EOF) && name == "":
			return names, nil
		case err != nil: // also for a name cut off
			return nil, err
		}
		name = filepath.ToSlash(strings.TrimSuffix(name, "\x00"))
		names = append(names, strings.TrimPrefix(name, "./"))
	}
}
