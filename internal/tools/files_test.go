package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// picture is a file that is not text.
const picture = "\x89PNG\r\n\x1a\n\x00\x00\xff"

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// undone undoes the last change.
func (b *bench) undone(r undo.Range) {
	b.Helper()
	plan, err := undo.Find(b.Context(), b.deps.Root, undo.Scope{Range: r, Session: "s"})
	if err == nil {
		err = plan.Do(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
}

// mode returns the permissions of a file.
func (b *bench) mode(name string) os.FileMode {
	b.Helper()
	info, err := os.Stat(b.path(name))
	if err != nil {
		b.Fatal(err)
	}
	return info.Mode().Perm()
}

// A deletion and a move are one question each; undo and redo restore bytes and modes.
func TestDeletedAndMovedFilesComeBack(t *testing.T) {
	files := map[string]string{"a.sh": "one\r\ntwo\r\n", "logo.png": picture, "empty": "", "latin": "caf\xe9\n"}
	for name, content := range files {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, files)
			if err := os.Chmod(b.path(name), 0o751); err != nil {
				t.Fatal(err)
			}
			mode := b.mode(name) // not this on Windows: files have none there
			b.want(b.call("delete_file", m{"path": name}), false, "Deleted "+name)
			if b.exists(name) || len(b.ask.asked) != 1 || !b.ask.asked[0].File().Delete || b.ask.asked[0].File().Size != int64(len(content)) {
				t.Fatalf("asked %+v", b.ask.asked)
			}
			b.undone(undo.LastChange)
			if b.read(name) != content || b.mode(name) != mode {
				t.Errorf("restored %q, %v", b.read(name), b.mode(name))
			}
			b.undone(undo.LastUndo)
			if b.exists(name) {
				t.Error("the redo left it")
			}
			b.undone(undo.LastChange)

			to := "new/dir/" + name
			b.want(b.call("move_file", m{"path": name, "to": to}), false, "Moved "+name+" → "+to)
			if b.exists(name) || b.read(to) != content || b.mode(to) != mode {
				t.Fatalf("moved %q", b.read(to))
			}
			b.undone(undo.LastChange)
			if b.exists("new") || b.read(name) != content || b.mode(name) != mode {
				t.Errorf("undone %q, %v", b.read(name), b.exists("new"))
			}
			b.undone(undo.LastUndo)
			if b.exists(name) || b.read(to) != content || b.mode(to) != mode {
				t.Errorf("redone %q, %v", b.read(to), b.mode(to))
			}
		})
	}
}

// A refused removal or move asks nobody, and changes nothing.
func TestNoSuchRemovalOrMove(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n", "b": "b\n", "full/c": "c\n"})
	outside := filepath.Join(t.TempDir(), "x")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(outside, []byte("x"), 0o644))
	must(os.Mkdir(b.path("none"), 0o755))
	must(os.Symlink("a", b.path("link")))
	must(os.Symlink("nowhere", b.path("dangling")))
	for _, c := range []struct {
		tool string
		args m
		want string
	}{
		{"delete_file", m{"path": "nope"}, "nope does not exist"},
		{"delete_file", m{"path": "full"}, "full is a folder"},
		{"delete_file", m{"path": "none"}, "none is a folder"},
		{"delete_file", m{"path": "link"}, "link is a symlink"},
		{"delete_file", m{"path": outside}, "outside the workspace"},
		{"move_file", m{"path": "a", "to": "b"}, "b exists, and is not overwritten"},
		{"move_file", m{"path": "a", "to": "a"}, "a exists"},
		{"move_file", m{"path": "a", "to": "full"}, "full is a folder: name the file in it"},
		{"move_file", m{"path": "a", "to": "x/"}, "x is not a folder"},
		{"move_file", m{"path": "a", "to": "dangling"}, "dangling is a symlink"},
		{"move_file", m{"path": "a", "to": outside + "2"}, "outside the workspace"},
		{"move_file", m{"path": outside, "to": "x"}, "outside the workspace"},
		{"move_file", m{"path": "link", "to": "x"}, "link is a symlink"},
		{"move_file", m{"path": "full", "to": "x"}, "full is a folder"},
		{"patch", m{"diff": "*** Delete File: link\n"}, "link is a symlink"},
		{"patch", m{"diff": "*** Update File: link\n*** Move to: x\n@@\n-a\n+b\n"}, "the diff is for link"},
		{"patch", m{"diff": "*** Update File: a\n*** Move to: b\n@@\n-a\n+c\n"}, "b exists"},
	} {
		b.want(b.call(c.tool, c.args), true, c.want)
	}
	if len(b.ask.asked) != 0 || b.read("a")+b.read("b")+b.read("full/c") != "a\nb\nc\n" {
		t.Errorf("asked %d times", len(b.ask.asked))
	}
}

// A file that appears at the new place during the question is not overwritten, and a file
// that changes is neither moved nor deleted.
func TestChangedUnderTheQuestion(t *testing.T) {
	for _, tool := range []string{"move_file", "delete_file"} {
		b := newBench(t, map[string]string{"a": "a\n"})
		b.ask.during = func(confirm.Request) { b.write("a", "theirs\n") }
		b.want(b.call(tool, m{"path": "a", "to": "b"}), true, "changed while")
		if b.read("a") != "theirs\n" || b.exists("b") {
			t.Errorf("%s changed it", tool)
		}
	}
	b := newBench(t, map[string]string{"a": "a\n"})
	b.ask.during = func(confirm.Request) { b.write("b", "theirs\n") }
	b.want(b.call("move_file", m{"path": "a", "to": "b"}), true, "b exists")
	if b.read("a") != "a\n" || b.read("b") != "theirs\n" {
		t.Error("it was moved")
	}
	b = newBench(t, map[string]string{"a": "a\n"}).gather()
	b.call("move_file", m{"path": "a", "to": "b"})
	b.ask.during = func(confirm.Request) { b.write("b", "theirs\n") }
	b.want(b.settle(), true, "b exists")
	if b.read("a") != "a\n" || b.read("b") != "theirs\n" || len(b.ask.asked) != 1 {
		t.Errorf("it was moved, after %d questions", len(b.ask.asked))
	}
}

// Unsaved changes in the editor, at either path, are named.
func TestUnsavedIsNeitherMovedNorDeleted(t *testing.T) {
	for _, dirty := range []string{"a", "b"} {
		b := newBench(t, map[string]string{"a": "a\n"})
		b.deps.Buffers = dirtyFile(b.path(dirty))
		b.set = NewSet(b.deps)
		b.want(b.call("move_file", m{"path": "a", "to": "b"}), true, dirty+" has unsaved changes in")
		if dirty == "a" {
			b.want(b.call("delete_file", m{"path": "a"}), true, "a has unsaved changes in")
		}
		if len(b.ask.asked) != 0 || b.read("a") != "a\n" {
			t.Errorf("asked %d times", len(b.ask.asked))
		}
	}
}

// The question about a move warns about each of its places.
func TestNotesOfBothPlaces(t *testing.T) {
	for _, c := range []struct{ from, to, note string }{
		{".git/config", "c", ".git/config is protected"},
		{"c", ".vscode/settings.json", ".vscode/settings.json is protected"},
		{".env", "plain.txt", ".env may contain passwords or keys: as plain.txt, it is read without a question"},
		{".git/config", "plain.txt", ".git/config holds a password or token of git: as plain.txt, it is read without a question"},
		{"sub/config", "plain.txt", "sub/config holds a password or token of git: as plain.txt, it is read without a question"},
	} {
		b := newBench(t, map[string]string{c.from: "url = https://ana:pw@host/a\n"})
		b.call("move_file", m{"path": c.from, "to": c.to})
		if len(b.ask.asked) != 1 || !b.ask.asked[0].Force || !strings.Contains(fmt.Sprint(b.ask.asked[0].Notes), c.note) {
			t.Errorf("%s to %s: asked %+v", c.from, c.to, b.ask.asked)
		}
	}
	b := newBench(t, map[string]string{"sub/config": "url = https://ana:pw@host/a\n"})
	b.call("move_file", m{"path": "sub/config", "to": "config"})
	if len(b.ask.asked) != 1 || len(b.ask.asked[0].Notes) > 0 {
		t.Errorf("to a name that is asked about too: %+v", b.ask.asked)
	}
}

// A patch moves a file and changes it, and deletes another, with one question and one undo.
func TestAPatchMoves(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n2\n", "b": "b\n", "c": picture})
	diff := "*** Begin Patch\n*** Update File: a\n*** Move to: new/a\n@@\n-2\n+two\n*** Delete File: b\n*** Update File: c\n*** Move to: d\n*** End Patch\n"
	res := b.call("patch", m{"diff": diff})
	b.want(res, false, "Moved a → new/a: 1 added, 1 removed", "Deleted b", "Moved c → d")
	if len(b.ask.asked) == 0 || b.exists("a") || b.exists("b") || b.exists("c") || b.read("new/a") != "1\ntwo\n" || b.read("d") != picture {
		t.Fatalf("asked %d times: %s", len(b.ask.asked), b.read("new/a"))
	}
	if f := res.Changes[0]; f.Path != "new/a" || f.From != "a" || !strings.Contains(f.Diff, "rename from a\nrename to new/a\n") || !res.Changes[1].Deleted {
		t.Errorf("%+v", res.Changes)
	}
	b.undone(undo.LastChange)
	if b.read("a") != "1\n2\n" || b.read("b") != "b\n" || b.read("c") != picture || b.exists("new") || b.exists("d") {
		t.Error("not undone")
	}
}

// Pending removals and moves are seen by the tools, follow each other, and are written
// together.
func TestPendingMovesAreSeen(t *testing.T) {
	b := newBench(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n", "d.go": "package d\n"}).gather()
	b.want(b.call("move_file", m{"path": "a.go", "to": "sub/a.go"}), false, "a.go → sub/a.go is moved, pending")
	b.want(b.call("delete_file", m{"path": "b.go"}), false, "b.go is deleted, pending")
	if len(b.ask.asked) != 0 || !b.exists("a.go") || b.exists("sub") || !b.exists("b.go") {
		t.Fatal("something was written")
	}
	b.want(b.call("read_file", m{"path": "a.go"}), true, "does not exist")
	b.want(b.call("read_file", m{"path": "sub/a.go"}), false, "1 | package a")
	b.want(b.call("search_files", m{"regex": "package"}), false, "sub/a.go\n1:package a", "2 matches in 2 files")
	b.want(b.call("find_files", m{"pattern": "*.go", "path": "sub"}), false, "a.go")
	b.want(b.call("edit_file", m{"path": "sub/a.go", "old_string": "package a", "new_string": "package sub"}), false, "a.go → sub/a.go is moved", "1 added, 1 removed")
	b.want(b.call("move_file", m{"path": "sub/a.go", "to": "x/a.go"}), false, "a.go → x/a.go is moved", "1 added")
	b.want(b.call("delete_file", m{"path": "a.go"}), true, "does not exist")
	b.want(b.call("move_file", m{"path": "d.go", "to": "x/a.go"}), true, "x/a.go is created by a pending change")
	b.call("write_file", m{"path": "new", "content": "n\n"})
	b.want(b.call("move_file", m{"path": "new", "to": "newer"}), false, "moved")
	b.want(b.call("move_file", m{"path": "d.go", "to": "e.go"}), false, "moved")
	b.want(b.call("move_file", m{"path": "e.go", "to": "d.go"}), false, "d.go is changed")
	b.want(b.call("delete_file", m{"path": "e.go"}), true, "does not exist")
	b.want(b.call("delete_file", m{"path": "d.go"}), false, "deleted")
	res := b.settle()
	b.want(res, false, "Moved a.go → x/a.go: 1 added, 1 removed", "Deleted b.go", "Created newer", "Deleted d.go")
	if len(b.ask.asked) != 1 || b.exists("a.go") || b.exists("b.go") || b.exists("d.go") || b.exists("sub") || b.exists("new") || b.read("x/a.go") != "package sub\n" || b.read("newer") != "n\n" {
		t.Errorf("%d questions, %s", len(b.ask.asked), res.ForModel)
	}
	b.undone(undo.LastChange)
	if b.read("a.go") != "package a\n" || b.read("b.go") != "package b\n" || b.exists("x") || b.exists("newer") || b.read("d.go") != "package d\n" {
		t.Error("not undone")
	}
}

// A new file at the place of one that a pending change moves away waits for the review.
func TestTheOldPlaceOfAPendingMove(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n"}).gather()
	b.call("move_file", m{"path": "a", "to": "b"})
	b.want(b.call("write_file", m{"path": "a", "content": "new\n"}), false, "Moved a → b", "a is changed, pending")
	if len(b.ask.asked) != 1 || b.exists("a") || b.read("b") != "a\n" {
		t.Errorf("asked %d times", len(b.ask.asked))
	}
	b.settle()
	if b.read("a") != "new\n" {
		t.Error(b.read("a"))
	}
}

// A move to a place that a pending change has emptied waits for the review of that change.
func TestAMoveToAFreedPlace(t *testing.T) {
	for name, frees := range map[string]m{"move_file": {"path": "a", "to": "z"}, "delete_file": {"path": "a"}} {
		b := newBench(t, map[string]string{"a": "a\n", "b": "b\n"}).gather()
		b.call(name, frees)
		patch := "*** Update File: b\n*** Move to: a\n"
		b.want(b.call("patch", m{"diff": patch}), true, "a is on the disk until the user approves", "move_file has that reviewed first")
		b.want(b.call("move_file", m{"path": "b", "to": "a"}), false, "Before it, the pending changes were reviewed", "b → a is moved, pending")
		if len(b.ask.asked) != 1 || b.exists("a") || b.read("b") != "b\n" {
			t.Errorf("%s: %d questions", name, len(b.ask.asked))
		}
		b.settle()
		if b.exists("b") || b.read("a") != "b\n" {
			t.Errorf("%s: a holds %q", name, b.read("a"))
		}
	}
	b := newBench(t, map[string]string{"a": "a\n", "b": "b\n"}).gather()
	b.call("delete_file", m{"path": "a"})
	b.ask.verdict = confirm.Verdict{Feedback: "keep it"}
	b.want(b.call("move_file", m{"path": "b", "to": "a"}), true, "keep it", "this call was not carried out")
}

// dirtyFile is the path of a file with unsaved changes in an editor.
type dirtyFile string

func (d dirtyFile) Unsaved(_ context.Context, path string) (string, bool) {
	return "VS Code", path == string(d)
}

func (dirtyFile) Save(context.Context, string) error { return errors.New("not asked to save") }

// A move by case alone, with and without an edit, is a move on every system, and so are its undo and
// redo, where both spellings name one file too.
func TestMoveByCaseAlone(t *testing.T) {
	for name, c := range map[string]struct {
		tool  string
		args  m
		after string
	}{
		"a move":              {"move_file", m{"path": "sub/a.txt", "to": "sub/A.txt"}, "one\ntwo\n"},
		"a move with an edit": {"patch", m{"diff": "*** Update File: sub/a.txt\n*** Move to: sub/A.txt\n@@\n-one\n+1\n two\n"}, "1\ntwo\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"sub/a.txt": "one\ntwo\n", "sub/b.txt": "b\n"})
			check := func(when, file, want string) {
				t.Helper()
				if got := b.names("sub"); got != file+" b.txt" {
					t.Fatalf("%s, the folder has %s, want %s b.txt", when, got, file)
				}
				if got := b.read("sub/" + file); got != want {
					t.Errorf("%s, the file holds %q, want %q", when, got, want)
				}
			}
			b.want(b.call(c.tool, c.args), false, "sub/a.txt → sub/A.txt")
			check("moved", "A.txt", c.after)
			if n := len(b.ask.asked); n != 1 || b.ask.asked[0].File().Label() != "sub/a.txt → sub/A.txt" {
				t.Errorf("asked %+v", b.ask.asked)
			}
			b.undone(undo.LastChange)
			check("undone", "a.txt", "one\ntwo\n")
			b.undone(undo.LastUndo)
			check("redone", "A.txt", c.after)
			b.want(b.call("move_file", m{"path": "sub/A.txt", "to": "sub/b.txt"}), true, "sub/b.txt exists")
			b.want(b.call("move_file", m{"path": "sub/A.txt", "to": "sub/a.txt"}), false, "sub/A.txt → sub/a.txt")
			check("moved back", "a.txt", c.after)
		})
	}
}

// names returns the names in a folder.
func (b *bench) names(folder string) string {
	b.Helper()
	list, err := os.ReadDir(b.path(folder))
	if err != nil {
		b.Fatal(err)
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name())
	}
	return strings.Join(names, " ")
}
