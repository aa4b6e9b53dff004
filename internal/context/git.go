package modelcontext

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// The branch is read from the repository's files: any git command can do harm in a
// repository that the user does not trust.

// maxBranch is the maximum length of a branch name in the prompt, in bytes.
const maxBranch = 200

// commit matches the content of a detached HEAD.
var commit = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// branch returns the checked-out branch, the first digits of a detached commit, or ""
// if HEAD holds neither.
func (p place) branch() string {
	dir, ok := p.gitDir()
	if !ok {
		return ""
	}
	head, ok := readIn(dir, "HEAD")
	if !ok {
		return ""
	}
	head = strings.TrimSpace(head)
	if name, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		if len(name) > maxBranch || name != oneLine(name) {
			return ""
		}
		return name
	}
	if commit.MatchString(head) {
		return head[:12]
	}
	return ""
}

// gitDir returns the folder with HEAD. In a worktree or a submodule .git is a file with
// the folder's name. The repository may come from anywhere, so gitDir follows the name
// only to the places where git itself puts such folders.
func (p place) gitDir() (string, bool) {
	dotGit := filepath.Join(p.root, ".git")
	info, err := os.Lstat(dotGit)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return dotGit, true
	}
	content, ok := readIn(p.root, ".git")
	if !ok {
		return "", false
	}
	line, _, _ := strings.Cut(content, "\n")
	dir, ok := strings.CutPrefix(line, "gitdir: ")
	if !ok {
		return "", false
	}
	dir = filepath.Clean(strings.TrimRight(dir, "\r"))
	if strings.HasPrefix(dir, `\\`) {
		return "", false // a network share: opening it would contact a stranger
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.root, dir)
	}
	kind := filepath.Base(filepath.Dir(dir))
	inside := strings.Contains(filepath.ToSlash(dir), "/.git/modules/")
	return dir, kind == "worktrees" || inside
}

// readIn reads a small text file in the folder dir. It follows no symlink out of dir.
func readIn(dir, name string) (text string, ok bool) {
	root, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		return "", false
	}
	f, err := root.Read(name)
	err = errors.Join(err, root.Close())
	return f.Text, err == nil
}
