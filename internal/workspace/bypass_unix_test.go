//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/bypass"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// writer writes "mine\n" to a file below w, if its guard lets it.
type writer func(w *tree, name string)

// byPrefix is a guard that compares the beginning of the cleaned path.
func byPrefix(w *tree, name string) {
	if path := filepath.Clean(filepath.Join(w.Dir(), name)); strings.HasPrefix(path, w.Dir()) {
		_ = os.WriteFile(path, []byte("mine\n"), 0o600)
	}
}

// byLooks is a guard that resolves links, and then writes to the path.
func byLooks(between func()) writer {
	return func(w *tree, name string) {
		path := w.Path(name)
		if resolved, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && strings.HasPrefix(resolved+"/", w.Dir()+"/") {
			between()
			_ = os.WriteFile(path, []byte("mine\n"), 0o600)
		}
	}
}

// own writes as the program does; between is called after the question.
func own(between func()) writer {
	return func(w *tree, name string) {
		c, err := w.Propose(name, func(workspace.File) (string, error) { return "mine\n", nil })
		if err != nil {
			return
		}
		between()
		_, _ = w.Commit(w.T.Context(), c, workspace.Origin{}) // refused, if the guard works
	}
}

// TestPublishedBypasses writes outside the workspace, or over what nobody has seen.
func TestPublishedBypasses(t *testing.T) {
	nothing := func() {}
	beside := func(w *tree) string { return w.Dir() + "-evil" }
	for _, c := range []struct {
		attack string
		set    func(w *tree) // makes the attack's links
		name   string
		victim func(w *tree) string
		weak   writer
	}{
		{
			"CVE-2025-54794, CVE-2025-53110: a folder whose name begins like the workspace's", func(w *tree) { must(w.T, os.MkdirAll(beside(w), 0o755)) },
			"../NAME-evil/victim", func(w *tree) string { return filepath.Join(beside(w), "victim") }, byPrefix,
		},
		{
			"CVE-2025-53109, CVE-2025-59829, CVE-2026-25724: a link in the workspace to a file outside",
			func(w *tree) { must(w.T, os.Symlink(filepath.Join(w.Home, "victim"), w.Path("link"))) },
			"link", func(w *tree) string { return filepath.Join(w.Home, "victim") }, byPrefix,
		},
		{
			"CVE-2026-39861: a folder in the workspace that is a link", func(w *tree) { must(w.T, os.Symlink(w.Home, w.Path("dir"))) },
			"dir/victim", func(w *tree) string { return filepath.Join(w.Home, "victim") }, byPrefix,
		},
	} {
		try := func(write writer) func(t *testing.T) bool {
			return func(t *testing.T) bool {
				w := open(t)
				t.Cleanup(func() { _ = os.RemoveAll(beside(w)) })
				c.set(w)
				write(w, strings.Replace(c.name, "NAME", filepath.Base(w.Dir()), 1))
				_, err := os.Stat(c.victim(w))
				return err == nil
			}
		}
		bypass.Try(t, c.attack, "the workspace is opened as a folder, and no path leads out of it", try(c.weak), try(own(nothing)))
	}

	swapped := func(write func(between func()) writer) func(t *testing.T) bool {
		return func(t *testing.T) bool {
			w := open(t)
			w.Write("d/f.txt", "one\n")
			write(func() {
				must(t, os.Rename(w.Path("d"), w.Path("e")))
				must(t, os.Symlink(w.Home, w.Path("d")))
			})(w, "d/f.txt")
			_, err := os.Stat(filepath.Join(w.Home, "f.txt"))
			return err == nil
		}
	}
	bypass.Try(t, "a folder is replaced by a link between the check and the write", "the folder is held open from the check to the write", swapped(byLooks), swapped(own))

	changed := func(write func(between func()) writer) func(t *testing.T) bool {
		return func(t *testing.T) bool {
			w := open(t)
			w.Write("f.txt", "one\n")
			write(func() { w.Write("f.txt", "another program's\n") })(w, "f.txt")
			return w.Content("f.txt") == "mine\n"
		}
	}
	bypass.Try(t, "QwenLM/qwen-code#3774: a file changes between the approval and the write", "the file is compared to the last byte right before it is replaced", changed(byLooks), changed(own))

	planted := func(write writer) func(t *testing.T) bool {
		return func(t *testing.T) bool {
			w := open(t)
			w.Write("f.txt", "one\n")
			victim := filepath.Join(w.Home, "victim")
			must(t, os.WriteFile(victim, []byte("theirs\n"), 0o600))
			must(t, os.Symlink(victim, w.Path("f.txt.tmp")))
			write(w, "f.txt")
			data, err := os.ReadFile(victim)
			must(t, err)
			return string(data) != "theirs\n"
		}
	}
	bypass.Try(t, "CVE-2026-46406: a temporary file with a known name is a link", "temporary files have random names and are created, never opened", planted(func(w *tree, name string) {
		_ = os.WriteFile(w.Path(name)+".tmp", []byte("mine\n"), 0o600)
		_ = os.Rename(w.Path(name)+".tmp", w.Path(name))
	}), planted(own(nothing)))
}
