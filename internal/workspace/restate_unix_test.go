//go:build unix

package workspace_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// TestRestate: one commit makes changes of modes, links and folders together, also of a folder and in it, and one
// undo takes them back.
func TestRestate(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{"d/x": "x\n", "run": "#!/bin/sh\n", "old/empty/": ""})
	root := scratch.Workspace(t, dir, workspace.Options{Home: t.TempDir()})
	states := func() string {
		text := ""
		for _, name := range []string{"d", "d/x", "run", "link", "e/f", "old"} {
			s, content, err := root.Look(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			text += name + " " + s.Mode.String() + " " + string(content) + "\n"
		}
		return text
	}
	if err := os.Chmod(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := states()
	var all []workspace.Change
	for _, to := range []struct {
		name, content string
		mode          fs.FileMode
		gone          bool
	}{
		{name: "link", content: "run", mode: fs.ModeSymlink},
		{name: "run", content: "#!/bin/bash\n", mode: 0o755},
		{name: "d", mode: fs.ModeDir | 0o700},
		{name: "e/f", mode: fs.ModeDir | 0o700},
		{name: "d/x", gone: true},
		{name: "old", gone: true},
		{name: "old/empty", gone: true},
	} {
		s := workspace.StateOf(to.mode, []byte(to.content))
		if to.gone {
			s = workspace.State{}
		}
		c, err := root.Restate(filepath.Join(dir, to.name), s, []byte(to.content))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	ordered := make([]workspace.Change, len(all))
	for i, at := range workspace.Order(all) {
		ordered[i] = all[at]
	}
	if _, err := root.Commit(t.Context(), workspace.AllOrNone, workspace.Origin{Session: "s", Turn: "t", Tool: "execute_command"}, ordered...); err != nil {
		t.Fatal(err)
	}
	const want = "d drwx------ \nd/x ---------- \nrun -rwxr-xr-x #!/bin/bash\n\nlink L--------- run\ne/f drwx------ \nold ---------- \n"
	if got := states(); got != want {
		t.Errorf("after the commit:\n%swant:\n%s", got, want)
	}
	plan, err := undo.Find(t.Context(), root, undo.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := states(); got != before {
		t.Errorf("after the undo:\n%swant:\n%s", got, before)
	}
}
