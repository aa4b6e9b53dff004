package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// project writes files into a new folder and returns its real path.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func look(t *testing.T, dir string) Found {
	t.Helper()
	f, err := Look(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func answer(t *testing.T, s Store, dir string) Answer {
	t.Helper()
	a, err := s.Of(look(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestLook(t *testing.T) {
	dir := project(t, map[string]string{
		".agent/config.yaml": "model: a/b\n", ".agent/commands/x.md": "do", ".agent/commands/git/y.md": "it", ".agent/commands/note.txt": "no",
	})
	f := look(t, dir)
	if d := cmp.Diff([]string{"git/y.md", "x.md"}, f.Command); d != "" || string(f.Config) != "model: a/b\n" || f.Empty() {
		t.Errorf("%+v %s", f, d)
	}
	if none := look(t, project(t, map[string]string{"AGENTS.md": "text", ".agent/x": ""})); !none.Empty() {
		t.Errorf("%+v", none)
	}
}

// Each change of what is used is another hash, whatever stays the same.
func TestEveryChangeShows(t *testing.T) {
	base := map[string]string{".agent/config.yaml": "a", ".agent/commands/x.md": "b"}
	seen := map[string]string{look(t, project(t, base)).Hash: "as it was"}
	for name, change := range map[string][2]string{
		"config": {".agent/config.yaml", "b"}, "command": {".agent/commands/x.md", "c"}, "another command": {".agent/commands/y.md", ""},
		"config gone into a command": {".agent/commands/x.md", "ba"}, "empty": {".agent/config.yaml", ""},
	} {
		dir := project(t, base)
		put(t, dir, change[0], change[1])
		hash := look(t, dir).Hash
		if old, ok := seen[hash]; ok {
			t.Errorf("%s is taken for %s", name, old)
		}
		seen[hash] = name
	}
	dir := project(t, base)
	put(t, dir, "main.go", "package main")
	if look(t, dir).Hash != look(t, project(t, base)).Hash {
		t.Error("what is not used is asked about")
	}
}

func TestTheAgentsOwnFolderIsNoProjects(t *testing.T) {
	dir := project(t, map[string]string{".agent/config.yaml": "model: a/b"})
	if f, err := Look(dir, filepath.Join(dir, ".agent")); err != nil || !f.Empty() {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestWhatCannotBeLookedAt(t *testing.T) {
	many := map[string]string{}
	for i := range maxFiles + 1 {
		many[fmt.Sprintf(".agent/commands/%d.md", i)] = "x"
	}
	for want, files := range map[string]map[string]string{
		"larger than 64 KiB": {".agent/config.yaml": strings.Repeat("x", maxSize+1)},
		"it is no file":      {".agent/config.yaml/x": ""},
		"more than 200":      many,
	} {
		if _, err := Look(project(t, files), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Look(filepath.Join(t.TempDir(), "none"), ""); err == nil {
		t.Error("no folder, no error")
	}
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	out := project(t, map[string]string{"config.yaml": "model: a/b"})
	dir := project(t, nil)
	if err := os.Symlink(out, filepath.Join(dir, ".agent")); err != nil {
		t.Fatal(err)
	}
	if f, err := Look(dir, ""); err == nil || !f.Empty() {
		t.Errorf("a file outside of the project was read: %+v", f)
	}
}

func TestAnswers(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "home"))
	dir := project(t, map[string]string{".agent/config.yaml": "a"})
	if a := answer(t, s, dir); a != Unknown {
		t.Fatal(a)
	}
	set := func(e Entry) {
		t.Helper()
		if err := s.Set(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	set(Entry{Dir: dir, Trusted: true, Hash: look(t, dir).Hash})
	if a := answer(t, s, dir); a != Trusted {
		t.Error(a)
	}
	put(t, dir, ".agent/config.yaml", "b")
	if a := answer(t, s, dir); a != Changed {
		t.Error(a)
	}
	set(Entry{Dir: dir})
	if a := answer(t, s, dir); a != Refused {
		t.Error(a)
	}
	if was, err := s.Remove(t.Context(), dir); !was || err != nil {
		t.Error(was, err)
	}
	if was, err := s.Remove(t.Context(), dir); was || err != nil {
		t.Error(was, err)
	}
	if a := answer(t, s, dir); a != Unknown {
		t.Error(a)
	}
	if info, err := os.Stat(s.file()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestAParentCoversWhatIsBelow(t *testing.T) {
	s := Open(t.TempDir())
	parent := project(t, map[string]string{"a/.agent/config.yaml": "x", "ab/.agent/config.yaml": "x", "a/b/.agent/config.yaml": "x"})
	a, b := filepath.Join(parent, "a"), filepath.Join(parent, "a", "b")
	if err := s.Set(t.Context(), Entry{Dir: a, Trusted: true, Hash: look(t, a).Hash}); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]Answer{a: Trusted, b: Trusted, filepath.Join(parent, "ab"): Unknown, parent: Unknown} {
		if got := answer(t, s, dir); got != want {
			t.Errorf("%s: %v, want %v", dir, got, want)
		}
	}
	if got, err := s.Use(t.Context(), look(t, b)); got != Trusted || err != nil {
		t.Error(got, err)
	}
	put(t, b, ".agent/config.yaml", "y")
	if got, err := s.Use(t.Context(), look(t, b)); got != Changed || err != nil {
		t.Error("it has changed since it was first seen:", got, err)
	}
	if err := s.Set(t.Context(), Entry{Dir: b}); err != nil {
		t.Fatal(err)
	}
	if got := answer(t, s, b); got != Refused {
		t.Errorf("the nearer answer: %v", got)
	}
}

func TestABrokenFileTrustsNothing(t *testing.T) {
	s := Open(t.TempDir())
	put(t, s.home, "trust.json", `[{"dir":"/","trusted":true}`)
	if a, err := s.Of(Found{Dir: "/x"}); a != Unknown || err == nil {
		t.Error(a, err)
	}
	if err := s.Set(t.Context(), Entry{Dir: "/x", Trusted: true}); err == nil {
		t.Error("it was written over")
	}
}

func TestNoAnswerIsLost(t *testing.T) {
	s := Open(t.TempDir())
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			if err := s.Set(t.Context(), Entry{Dir: fmt.Sprintf("/%d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if all, err := s.List(); len(all) != 16 || err != nil {
		t.Error(len(all), err)
	}
}
