package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

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
	dir := scratch.Dir(t, map[string]string{
		".agent/config.yaml": "model: a/b\n", ".agent/commands/x.md": "do", ".agent/commands/git/y.md": "it", ".agent/commands/note.txt": "no",
	})
	f := look(t, dir)
	if d := cmp.Diff([]string{"git/y.md", "x.md"}, f.Command); d != "" || string(f.Config) != "model: a/b\n" || f.Empty() {
		t.Errorf("%+v %s", f, d)
	}
	if none := look(t, scratch.Dir(t, map[string]string{"AGENTS.md": "text", ".agent/x": ""})); !none.Empty() {
		t.Errorf("%+v", none)
	}
}

// Each change of a file in use changes the hash.
func TestEveryChangeShows(t *testing.T) {
	base := map[string]string{".agent/config.yaml": "a", ".agent/commands/x.md": "b"}
	seen := map[string]string{look(t, scratch.Dir(t, base)).Hash: "as it was"}
	for name, change := range map[string][2]string{
		"config": {".agent/config.yaml", "b"}, "command": {".agent/commands/x.md", "c"}, "another command": {".agent/commands/y.md", ""},
		"config gone into a command": {".agent/commands/x.md", "ba"}, "empty": {".agent/config.yaml", ""},
	} {
		dir := scratch.Dir(t, base)
		scratch.Write(t, filepath.Join(dir, change[0]), change[1])
		hash := look(t, dir).Hash
		if old, ok := seen[hash]; ok {
			t.Errorf("%s is taken for %s", name, old)
		}
		seen[hash] = name
	}
	dir := scratch.Dir(t, base)
	scratch.Write(t, filepath.Join(dir, "main.go"), "package main")
	if look(t, dir).Hash != look(t, scratch.Dir(t, base)).Hash {
		t.Error("what is not used is asked about")
	}
}

func TestHomeIsNotAProject(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{".agent/config.yaml": "model: a/b"})
	if f, err := Look(dir, filepath.Join(dir, ".agent")); err != nil || !f.Empty() {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestUnreadableFiles(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"larger than 64 KiB": {".agent/config.yaml": strings.Repeat("x", maxSize+1)},
		"not a file":         {".agent/config.yaml/x": ""},
	} {
		if _, err := Look(scratch.Dir(t, files), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Look(filepath.Join(t.TempDir(), "none"), ""); err == nil {
		t.Error("no folder, no error")
	}
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	out := scratch.Dir(t, map[string]string{"config.yaml": "model: a/b"})
	dir := scratch.Dir(t, nil)
	scratch.Symlink(t, out, filepath.Join(dir, ".agent"))
	if f, err := Look(dir, ""); err == nil || !f.Empty() {
		t.Errorf("a file outside of the project was read: %+v", f)
	}
	dir = scratch.Dir(t, map[string]string{".agent/commands/in.md": "x"})
	for name, to := range map[string]string{"out.md": filepath.Join(out, "config.yaml"), "up": out} {
		scratch.Symlink(t, to, filepath.Join(dir, Commands, name))
	}
	if f := look(t, dir); !slices.Equal(f.Command, []string{"in.md"}) || len(f.Left) != 1 || !strings.Contains(f.Left[0], "out.md") {
		t.Errorf("links out of the project: %+v", f)
	}
}

// With too many files, those left out are named, and those in use are the ones that
// were read.
func TestCommandsAreBounded(t *testing.T) {
	many, crowd := map[string]string{}, map[string]string{".agent/commands/x.md": "x"}
	for i := range maxFiles + maxLeft + 5 {
		many[fmt.Sprintf(".agent/commands/%03d.md", i)] = fmt.Sprint(i)
	}
	for i := range maxEntries + 1 {
		crowd[fmt.Sprintf(".agent/commands/crowd/%d.txt", i)] = ""
	}
	for name, c := range map[string]struct {
		files map[string]string
		used  int
		left  []string
	}{
		"many":      {many, maxFiles, []string{"/200.md: more than 200 commands", "more than these"}},
		"crowd":     {crowd, 1, []string{"/crowd: more than 2000 files"}},
		"deep":      {map[string]string{".agent/commands/a/b/c/d/x.md": "", ".agent/commands/a/b/c/y.md": ""}, 1, []string{"/a/b/c/d: more than 4 folders deep"}},
		"large":     {map[string]string{".agent/commands/x.md": strings.Repeat("x", maxSize+1), ".agent/commands/y.md": ""}, 1, []string{"/x.md: larger"}},
		"hidden":    {map[string]string{".agent/commands/.x.md": "", ".agent/commands/.git/y.md": ""}, 0, nil},
		"no folder": {map[string]string{".agent/commands": ""}, 0, []string{"commands: "}},
	} {
		f := look(t, scratch.Dir(t, c.files))
		left := strings.Join(f.Left, "\n")
		for _, want := range c.left {
			if !strings.Contains(left, want) {
				t.Errorf("%s: left out %s, want %s", name, left, want)
			}
		}
		if len(f.Command) != c.used || len(f.Texts()) != c.used || len(f.Left) > maxLeft+1 || c.left == nil && left != "" {
			t.Errorf("%s: %d used, %d texts, left: %s", name, len(f.Command), len(f.Texts()), left)
		}
	}
	dir := scratch.Dir(t, many)
	f := look(t, dir)
	scratch.Write(t, filepath.Join(dir, ".agent/commands/000.md"), "rm -rf /")
	if got := string(f.Texts()["000.md"]); got != "0" {
		t.Errorf("after it was looked at: %q", got)
	}
	if look(t, dir).Hash == f.Hash {
		t.Error("the change is not seen")
	}
}

func TestAnswers(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "home"))
	dir := scratch.Dir(t, map[string]string{".agent/config.yaml": "a"})
	if a := answer(t, s, dir); a != Unknown {
		t.Fatal(a)
	}
	set := func(e Entry) {
		t.Helper()
		if err := s.Set(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	set(Entry{Dir: dir, Folder: folderAt(dir), Trusted: true, Hash: look(t, dir).Hash})
	if a := answer(t, s, dir); a != Trusted {
		t.Error(a)
	}
	scratch.Write(t, filepath.Join(dir, ".agent/config.yaml"), "b")
	if a := answer(t, s, dir); a != Changed {
		t.Error(a)
	}
	set(Entry{Dir: dir, Folder: folderAt(dir)})
	if a := answer(t, s, dir); a != Refused {
		t.Error(a)
	}
	if r, err := s.Remove(t.Context(), dir); !r.Was || err != nil {
		t.Error(r, err)
	}
	if r, err := s.Remove(t.Context(), dir); r.Was || err != nil {
		t.Error(r, err)
	}
	if a := answer(t, s, dir); a != Unknown {
		t.Error(a)
	}
	if info, err := os.Stat(s.entries().Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestTrustExtendsToFoldersBelow(t *testing.T) {
	s := Open(t.TempDir())
	parent := scratch.Dir(t, map[string]string{"a/.agent/config.yaml": "x", "ab/.agent/config.yaml": "x", "a/b/.agent/config.yaml": "x"})
	a, b := filepath.Join(parent, "a"), filepath.Join(parent, "a", "b")
	if err := s.Set(t.Context(), Entry{Dir: a, Folder: folderAt(a), Trusted: true, Hash: look(t, a).Hash}); err != nil {
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
	scratch.Write(t, filepath.Join(b, ".agent/config.yaml"), "y")
	if got, err := s.Use(t.Context(), look(t, b)); got != Changed || err != nil {
		t.Error("it has changed since it was first seen:", got, err)
	}
	if err := s.Set(t.Context(), Entry{Dir: b, Folder: folderAt(b)}); err != nil {
		t.Fatal(err)
	}
	if got := answer(t, s, b); got != Refused {
		t.Errorf("the nearer answer: %v", got)
	}
}

// Derived answers are deleted with the answer above; a person's own answers below
// remain.
func TestDerivedAnswersAreDeleted(t *testing.T) {
	s := Open(t.TempDir())
	files := map[string]string{}
	for _, name := range []string{"", "a/", "a/b/", "own/", "own/c/"} {
		files[name+ConfigFile] = "x"
	}
	parent := scratch.Dir(t, files)
	at := func(name string) string { return filepath.Join(parent, filepath.FromSlash(name)) }
	trust := func(name string) {
		t.Helper()
		if err := s.Set(t.Context(), Entry{Dir: at(name), Folder: folderAt(at(name)), Trusted: true, Hash: look(t, at(name)).Hash}); err != nil {
			t.Fatal(err)
		}
	}
	use := func() {
		t.Helper()
		for _, name := range []string{"a", "a/b", "own", "own/c"} {
			if got, err := s.Use(t.Context(), look(t, at(name))); got != Trusted || err != nil {
				t.Fatal(name, got, err)
			}
		}
	}
	answers := func(want map[string]Answer) {
		t.Helper()
		for name, a := range want {
			if got := answer(t, s, at(name)); got != a {
				t.Errorf("%q: %v, want %v", name, got, a)
			}
		}
	}
	trust("")
	trust("own")
	use()
	if r, err := s.Remove(t.Context(), at("a")); err != nil || !r.Was || r.Over != parent || len(r.Below)+len(r.Own) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	use()
	r, err := s.Remove(t.Context(), parent)
	want := Removed{Was: true, Below: []string{at("a"), at("a/b")}, Own: []string{at("own")}}
	if d := cmp.Diff(want, r); d != "" || err != nil {
		t.Error(d, err)
	}
	gone := map[string]Answer{"": Unknown, "a": Unknown, "a/b": Unknown, "own": Trusted, "own/c": Trusted}
	answers(gone)
	trust("")
	use()
	if err := s.Set(t.Context(), Entry{Dir: parent, Folder: folderAt(parent)}); err != nil {
		t.Fatal(err)
	}
	gone[""] = Refused
	answers(gone)
}

func TestMalformedFileTrustsNothing(t *testing.T) {
	s := Open(t.TempDir())
	scratch.Write(t, filepath.Join(s.home, "trust.json"), `[{"dir":"/","trusted":true}`)
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
