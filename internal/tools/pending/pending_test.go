package pending_test

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TestPendingChanges makes random edits of some files: each file has one change, from the
// text on disk to the last one, none if these are the same, and every reader sees the last
// texts.
func TestPendingChanges(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, seed))
	for range 200 {
		disk := map[string]string{"a": "a\n", "sub/b": "b\n"}
		now := maps.Clone(disk)
		var c pending.Changes
		for range 1 + r.IntN(12) {
			name := []string{"a", "sub/b", "new", "deep/er/new"}[r.IntN(4)]
			text, remove := string(rune('a'+r.IntN(3)))+"\n", r.IntN(4) == 0
			change := workspace.Change{File: c.Over(onDisk(disk, name)), After: text, Delete: remove}
			if remove {
				change.After = ""
				delete(now, name)
			} else {
				now[name] = text
			}
			c.Stage(c.Onto(change), edit.Exact, "call")
		}
		check(t, &c, disk, now)
		if dropped := len(c.Drop()); c.Len() != 0 || c.Has("/w/a") || dropped > 4 {
			t.Fatalf("%d changes after dropping %d", c.Len(), dropped)
		}
	}
}

// onDisk returns a file as it is on disk.
func onDisk(disk map[string]string, name string) workspace.File {
	text, exists := disk[name]
	return workspace.File{
		Path: filepath.FromSlash("/w/" + name), Name: name, Exists: exists, Text: text,
		Format: workspace.Format{Encoding: workspace.UTF8, EOL: "\n"},
	}
}

// check compares the changes with the files on disk and those after the edits.
func check(t *testing.T, c *pending.Changes, disk, now map[string]string) {
	t.Helper()
	below := fstest.MapFS{}
	for name, text := range disk {
		below[name] = &fstest.MapFile{Data: []byte(text)}
	}
	got := maps.Clone(disk)
	for _, p := range c.All() {
		if p.Text != disk[p.Name] || p.Exists && !p.Delete && p.After == p.Text || !p.Exists && p.Delete {
			t.Fatalf("the change of %s is from %q to %q", p.Name, p.Text, p.After)
		}
		delete(got, p.Name)
		if !p.Delete {
			got[p.Name] = p.After
		}
	}
	if diff := cmp.Diff(now, got); diff != "" {
		t.Fatal("the changes make other files:\n" + diff)
	}
	seen, _ := c.FS(below, filepath.FromSlash("/w"))
	if diff := cmp.Diff(now, texts(t, seen)); diff != "" {
		t.Fatal("a reader of the folder sees other files:\n" + diff)
	}
	for _, name := range []string{"a", "sub/b", "new", "deep/er/new"} {
		f, text := c.Over(onDisk(disk, name)), now[name]
		if _, exists := now[name]; f.Exists != exists || exists && f.Text != text {
			t.Fatalf("over %s: %+v, want %q", name, f, text)
		}
		_, ok, err := c.Read(onDisk(disk, name).Path)
		if _, exists := now[name]; ok != c.Has(onDisk(disk, name).Path) || ok && errors.Is(err, fs.ErrNotExist) == exists {
			t.Fatalf("reading %s: %t, %v", name, ok, err)
		}
	}
}

// texts returns the files of a folder.
func texts(t *testing.T, folder fs.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(folder, path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNilChanges: a nil *Changes has none.
func TestNilChanges(t *testing.T) {
	var c *pending.Changes
	if c.Len() != 0 || c.Call() != "" || len(c.All()) != 0 || c.Has("/w/a") || c.Drop() != nil {
		t.Error("a nil *Changes has changes")
	}
}
