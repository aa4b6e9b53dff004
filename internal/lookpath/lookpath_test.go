package lookpath_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// tool is the name of the file of a program.
var tool = map[bool]string{false: "tool", true: "tool.exe"}[runtime.GOOS == "windows"]

// No name starts a program of the project, by whatever way PATH leads to it.
func TestNoProgramOfTheProject(t *testing.T) {
	top := scratch.Dir(t, nil)
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	const script = "#!/bin/sh\n"
	dir := at("repo/packages/a")
	for _, name := range []string{"repo/.git", "repo/packages/a", "other/packages/b", "plain/src", "system", "links"} {
		scratch.Mkdir(t, at(name))
	}
	scratch.Write(t, at("worktree/.git"), "gitdir: "+at("repo/.git/worktrees/worktree")+"\n")
	scratch.Write(t, at("repo/sub/.git"), "gitdir: ../.git/modules/sub\n")
	for _, name := range []string{
		"repo/node_modules/.bin", "repo/bin", "repo/packages/a/bin", "worktree/bin", "system", "npm/node_modules/.bin",
		"plain/node_modules/p/bin", "repo/sub/bin", "extra/bin",
	} {
		scratch.Program(t, at(name+"/"+tool), script)
	}
	symlink := func(target, name string) {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	type entry struct{ dir, entry string }
	var links []entry
	if runtime.GOOS != "windows" { // which lets few people make links
		symlink(at("repo/bin"), "linked")
		symlink(at("system"), "repo/away")
		symlink(at("repo/bin/tool"), "links/tool")
		links = []entry{{dir, at("linked")}, {dir, at("repo/away")}, {dir, at("links")}, {at("linked"), at("repo/bin")}}
	}
	t.Chdir(dir)
	want := at("system/" + tool)
	for _, c := range append(links, []entry{
		{dir, at("repo/node_modules/.bin")},
		{dir, at("repo/bin")},
		{dir, at("repo/bin") + "/"},
		{dir, at("repo/packages/../bin")},
		{dir, at("repo/packages/a/bin")},
		{dir, "bin"},
		{dir, "./bin"},
		{dir, "../../bin"},
		{filepath.Join(dir, "bin"), ""},
		{filepath.Join(dir, "bin"), "."},
		{dir, at("npm/node_modules/.bin")},
		{at("worktree"), at("worktree/bin")},
		{at("worktree"), at("repo/bin")},
		{at("repo/sub"), at("repo/bin")},
		{at("plain/src"), at("plain/node_modules/p/bin")},
		{dir, at("extra/bin")},
	}...) {
		search := lookpath.Search{Dirs: []string{c.dir, at("extra")}, Path: c.entry + string(filepath.ListSeparator) + at("system")}
		if path, err := search.Find("tool"); err != nil || path != want {
			t.Errorf("in %s with %q on PATH: %s, %v", c.dir, c.entry, path, err)
		}
		if own := search.Own("tool"); own == "" || own == want {
			t.Errorf("in %s with %q on PATH, a shell would start %q", c.dir, c.entry, own)
		}
		if c.entry == at("links") {
			continue // a folder of the person's own, with a link
		}
		got := search.Environ([]string{"A=b", "PATH=" + search.Path})
		if !slices.Equal(got, []string{"A=b", "PATH=" + at("system")}) {
			t.Errorf("in %s with %q on PATH, a child gets %q", c.dir, c.entry, got)
		}
		search.Path = c.entry
		if c.entry == "" {
			continue // means that of this process
		}
		if path, err := search.Find("tool"); err == nil || !strings.Contains(err.Error(), "belongs to a project: write its path in full") {
			t.Errorf("in %s with only %q on PATH: %s, %v", c.dir, c.entry, path, err)
		}
	}
}

// A project does not hide the programs of others, a person's own folder with a repository of
// their settings included.
func TestOtherPrograms(t *testing.T) {
	home := scratch.Dir(t, nil)
	scratch.SetHome(t, home)
	scratch.Mkdir(t, filepath.Join(home, ".git"))
	dir := filepath.Join(home, "src/project")
	scratch.Mkdir(t, dir)
	want := filepath.Join(home, ".local/bin", tool)
	scratch.Program(t, want, "#!/bin/sh\n")
	t.Setenv("PATH", filepath.Dir(want)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, dirs := range [][]string{{dir}, nil} {
		search := lookpath.Search{Dirs: dirs}
		if path, err := search.Find("tool"); err != nil || path != want || search.Own("tool") != "" {
			t.Errorf("in %q: %s, %v", dirs, path, err)
		}
	}
	if _, err := (lookpath.Search{}).Find("no-such-program"); err == nil || !strings.Contains(err.Error(), exec.ErrNotFound.Error()) {
		t.Error(err)
	}
}

// A path is taken as it is, but means one program wherever it is used.
func TestPaths(t *testing.T) {
	dir := scratch.Dir(t, nil)
	want := filepath.Join(dir, tool)
	scratch.Program(t, want, "#!/bin/sh\nexit 0\n")
	t.Chdir(dir)
	if path, err := (lookpath.Search{}).Find(want); err != nil || path != want {
		t.Errorf("%s, %v", path, err)
	}
	for _, name := range []string{"./tool", "../" + filepath.Base(dir) + "/tool"} {
		if path, err := (lookpath.Search{}).Find(name); err == nil {
			t.Errorf("%s: %s", name, path)
		}
		if err := lookpath.Command(name).Run(); err == nil || !strings.Contains(err.Error(), "not absolute") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := lookpath.CommandContext(t.Context(), "true").Run(); err == nil {
		t.Error("a bare name was started")
	}
}
