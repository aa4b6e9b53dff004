package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/cli/extension"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestIdentity: the names that stand elsewhere in the tree are those of identity.json.
func TestIdentity(t *testing.T) {
	t.Chdir("../..")
	id, err := loadIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if extension.ID != id.Publisher+".agent-ide" {
		t.Errorf("the extension's ID is %s", extension.ID)
	}
	for file, want := range map[string]string{
		"go.mod":                                     "module " + id.Module + "\n",
		".golangci.yml":                              "module-path: " + id.Module + "\n",
		"scripts/install.sh":                         "{AGENT_RELEASES:-" + id.Repository + "/releases}",
		"editors/vscode/package.json":                `"publisher": "` + id.Publisher + `"`,
		"editors/vscode/scripts/package.mjs":         `"` + id.Repository + `"`,
		"editors/vscode/dist/extension.vsixmanifest": `Publisher="` + id.Publisher + `"`,
	} {
		if !strings.Contains(scratch.Read(t, file), want) {
			t.Errorf("%s lacks %q", file, want)
		}
	}
}

// TestSet changes all names in a copy of the tree. Afterwards none of the old ones is left, and
// setting the old ones again gives the tree that it was.
func TestSet(t *testing.T) {
	t.Chdir("../..")
	old, err := loadIdentity()
	if err != nil {
		t.Fatal(err)
	}
	files, err := output("git", "ls-files", "--cached", "--others", "--exclude-standard")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	before := map[string]string{}
	for file := range strings.SplitSeq(files, "\n") {
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue // removed but not yet committed, or a link
		}
		before[file] = scratch.Read(t, file)
		scratch.Write(t, filepath.Join(dir, file), before[file])
	}
	t.Chdir(dir)
	git(t, "init", "-q")
	git(t, "add", "-A", "--force")

	const example = "example." // so that no file has the names before
	if err := set([]string{"module=" + example + "org/one/two", "repository=https://github.com/else/" + example + "where", "publisher=zzz", "npm=@scope/name", "maintainer=M <m@example.org>"}); err != nil {
		t.Fatal(err)
	}
	changed := 0
	for file, text := range before {
		got := scratch.Read(t, file)
		if got != text {
			changed++
		}
		for _, form := range append(old.forms(), old.NPM, old.Maintainer) {
			if strings.Contains(got, form) {
				t.Errorf("%s still has %s", file, form)
			}
		}
	}
	if changed < 1000 {
		t.Errorf("%d files changed", changed)
	}
	if got := scratch.Read(t, "go.mod"); !strings.HasPrefix(got, "module "+example+"org/one/two\n") {
		t.Errorf("go.mod begins with %.40q", got)
	}
	back := []string{"module=" + old.Module, "repository=" + old.Repository, "publisher=" + old.Publisher, "npm=" + old.NPM, "maintainer=" + old.Maintainer}
	if err := set(back); err != nil {
		t.Fatal(err)
	}
	for file, text := range before {
		if got := scratch.Read(t, file); got != text {
			t.Errorf("%s is not as before", file)
		}
	}
}

func git(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestSetRefuses: a wrong name or value changes nothing.
func TestSetRefuses(t *testing.T) {
	dir := t.TempDir()
	const file = `{"module": "example.org/a/b", "repository": "https://github.com/a/b", "publisher": "p", "npm": "@s/n", "maintainer": "M <m@example.org>"}`
	scratch.Write(t, filepath.Join(dir, identityFile), file)
	t.Chdir(dir)
	git(t, "init", "-q")
	for _, args := range [][]string{
		{"publisher"},
		{"editor=x"},
		{"publisher="},
		{"publisher=a b"},
		{"publisher=a'b"},
		{"npm=agent"},
		{"repository=http://github.com/a/b"},
		{"module=x"},
		{"maintainer=nobody"},
		{"publisher=fine", "maintainer=it's <m@example.org>"},
	} {
		if err := set(args); err == nil {
			t.Errorf("set %q was accepted", args)
		}
		if got := scratch.Read(t, identityFile); got != file {
			t.Fatalf("set %q wrote %s", args, got)
		}
	}
}

// TestManuals: each command has a page, the root's with its options.
func TestManuals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	t.Chdir("../..")
	if err := writeManuals(dir); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"agent.1": `\fB--permission-mode\fP`, "agent-undo.1": "agent undo", "agent-mcp.1": "agent-mcp-", "agent-completion-zsh.1": "zsh",
	} {
		if got := scratch.Read(t, filepath.Join(dir, file)); !strings.Contains(got, want) || !strings.HasPrefix(got, ".nh\n.TH ") {
			t.Errorf("%s lacks %q or the head of a page:\n%.400s", file, want, got)
		}
	}
}

// TestNotices: the licences of the libraries in the program are found, also those for Windows, and
// none of the tests' libraries.
func TestNotices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "NOTICES.txt")
	t.Chdir("../..")
	if err := writeNotices(file); err != nil {
		t.Fatal(err)
	}
	got := scratch.Read(t, file)
	for _, want := range []string{"\nThe library of Go\n\nCopyright 2009 The Go Authors", "\ngithub.com/spf13/cobra v", "\ngithub.com/danieljoos/wincred v", "Apache License", "Permission is hereby granted"} {
		if !strings.Contains(got, want) {
			t.Errorf("the notices lack %q", want)
		}
	}
	if strings.Contains(got, "go-md2man") || strings.Contains(got, "\ngithub.com/google/go-cmp") {
		t.Error("the notices have what is not in the program")
	}
}

func TestProvenance(t *testing.T) {
	dir := t.TempDir()
	sum := strings.Repeat("0f", 32)
	sums, file := filepath.Join(dir, "checksums.txt"), filepath.Join(dir, "out.json")
	scratch.Write(t, sums, sum+"  a.tar.gz\n"+sum+"  b.zip\n")
	t.Setenv("AGENT_RELEASE_GORELEASER", "v1.2.3")
	t.Chdir("../..")
	if err := writeProvenance(sums, file); err != nil {
		t.Fatal(err)
	}
	var s statement
	if err := json.Unmarshal([]byte(scratch.Read(t, file)), &s); err != nil {
		t.Fatal(err)
	}
	digest := map[string]string{"sha256": sum}
	if diff := cmp.Diff([]subject{{Name: "a.tar.gz", Digest: digest}, {Name: "b.zip", Digest: digest}}, s.Subject); diff != "" {
		t.Error(diff)
	}
	head, err := output("git", "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Predicate.Definition.Resolved[0].Digest["gitCommit"]; got != head {
		t.Errorf("the commit is %s, want %s", got, head)
	}
	if got := s.Predicate.Definition.Internal; got["goreleaser"] != "v1.2.3" || !strings.HasPrefix(got["go"], "go1.") {
		t.Errorf("built with %v", got)
	}
	for _, bad := range []string{"", "x  a\n", sum + " a\n"} {
		scratch.Write(t, sums, bad)
		if err := writeProvenance(sums, file); err == nil {
			t.Errorf("%q was taken for sums", bad)
		}
	}
}
