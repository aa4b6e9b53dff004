//go:build unix

package lock

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/fixedport"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestTrust holds whose files are believed. Neither a link nor a pipe is
// followed or waited for.
func TestTrust(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(d *desk, path string) error
		why  string
	}{
		{"link", func(d *desk, path string) error {
			if err := os.Rename(path, d.home+"/real"); err != nil {
				return err
			}
			return os.Symlink(d.home+"/real", path)
		}, "the lock file is a symbolic link"},
		{"pipe", func(_ *desk, path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return syscall.Mkfifo(path, 0o600)
		}, "the lock file is not a regular file"},
		{"folder", func(_ *desk, path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		}, "the lock file is not a regular file"},
		{"writable by the group", func(_ *desk, path string) error { return os.Chmod(path, 0o620) }, "other users can write the lock file"},
		{"writable by all", func(_ *desk, path string) error { return os.Chmod(path, 0o602) }, "other users can write the lock file"},
		{"readable", func(_ *desk, path string) error { return os.Chmod(path, 0o644) }, ""},
		{"open folder", func(_ *desk, path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, "other users can write into the folder"},
		{"folder of a group", func(_ *desk, path string) error { return os.Chmod(filepath.Dir(path), 0o770) }, "other users can write into the folder"},
		{"folder is a link", func(d *desk, path string) error {
			if err := os.Rename(filepath.Dir(path), d.home+"/real"); err != nil {
				return err
			}
			return os.Symlink(d.home+"/real", filepath.Dir(path))
		}, ""},
		{"folder is a file", func(_ *desk, path string) error {
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				return err
			}
			return os.WriteFile(filepath.Dir(path), nil, 0o600)
		}, "it is not a folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			path := d.lock(ours, d.listen(), nil)
			if err := c.do(d, path); err != nil {
				t.Fatal(err)
			}
			got := d.one()
			if got.Why != c.why || got.Usable != (c.why == "") {
				t.Errorf("%+v, want %q", got, c.why)
			}
			if readable := len(got.Notes) == 1; readable != (c.name == "readable") {
				t.Errorf("notes %q", got.Notes)
			}
		})
	}
}

// stranger is a file of another user: it is found, not made, for making one
// takes privileges.
type stranger struct{ os.FileInfo }

func (s stranger) Sys() any {
	stat, ok := s.FileInfo.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	other := *stat
	other.Uid++
	return &other
}

func TestOwner(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if !own(info) || own(stranger{info}) {
		t.Error("the owner is not told from others")
	}
}

// TestLeftOver holds that a dead process is named only where nothing answers.
func TestLeftOver(t *testing.T) {
	d := newDesk(t)
	port := fixedport.Silent(t)
	d.lock(ours, port, map[string]any{"pid": 1 << 30})
	c := d.one()
	want := fmt.Sprintf("nothing answers on port %d", port)
	if !strings.HasPrefix(c.Why, want) || !strings.HasSuffix(c.Why, "left over") && !strings.Contains(c.Why, "container") {
		t.Errorf("%q", c.Why)
	}
}

// TestNamesOfTheSameFolder holds that links in either side's path are no
// obstacle.
func TestNamesOfTheSameFolder(t *testing.T) {
	d := newDesk(t)
	link := filepath.Join(d.home, "link")
	if err := os.Symlink(filepath.Dir(d.dir), link); err != nil {
		t.Fatal(err)
	}
	port := d.listen()
	d.lock(ours, port, map[string]any{"workspaceFolders": []string{link + "/"}})
	if c := d.one(); c.Folder != link+"/" {
		t.Errorf("the editor's path is a link: %+v", c)
	}
	d.lock(ours, port, nil)
	d.s.Dir = link
	if c := d.one(); c.Folder != filepath.Dir(d.dir) {
		t.Errorf("ours is one: %+v", c)
	}
	d.lock(ours, port, map[string]any{"workspaceFolders": []string{filepath.Join(d.home, "gone", "link")}})
	scratch.Mkdir(t, filepath.Join(d.home, "gone"))
	logical := filepath.Join(d.home, "gone", "link")
	if err := os.Symlink(filepath.Dir(d.dir), logical); err != nil {
		t.Fatal(err)
	}
	d.env["PWD"] = logical
	if c := d.one(); c.Folder == "" {
		t.Errorf("the shell's own name for it: %+v", c)
	}
	d.env["PWD"] = filepath.Join(d.home, strconv.Itoa(1))
	d.one()
}
