package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// gitIgnored returns those of names that git ignores in dir.
func gitIgnored(t scratch.TB, dir string, names []string) []string {
	t.Helper()
	cmd := exec.Command("git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "--stdin", "-z")
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(strings.Join(names, "\x00"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal(err, errs.String())
	}
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(s string) bool { return s == "" })
}

func initGit(t scratch.TB, dir string) {
	t.Helper()
	cmd := exec.Command("git", "init", "-q", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
}

// ours returns the files below dir that walk skips.
func ours(t scratch.TB, dir string, names []string) []string {
	t.Helper()
	entries, _, err := folder(dir, dir).walk(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		seen[e.path] = true
	}
	var out []string
	for _, n := range names {
		if !seen[n] {
			out = append(out, n)
		}
	}
	return out
}

func TestIgnoreAsGit(t *testing.T) {
	scratch.Need(t, "git")
	patterns := []string{
		"*.o", "!keep.o", "/top", "dir/", "a/b", "/a/*", "**/deep", "deep/**", "a/**/z", "x?z", "[a-c]1", "[!a-c]2", "[^d]3", `\#hash`, `\!bang`,
		"trail ", `blank\ `, "# comment", "", "/", "**", "a**b", "*/mid", "!dir/keep", "[[:digit:]]x", "[]]y", "[a-]w", `esc\*`, "no[close", "end\\", "foo/*/bar", "**/a/**/z", "*", "!*/", "\ufeffbom",
	}
	names := []string{
		"m.o", "keep.o", "top", "sub/top", "dir/f", "sub/dir/f", "sub/dir2", "a/b", "a/c/z", "a/z", "sub/a/b", "q/deep", "deep/q/r", "xyz", "x/z", "a1", "d1", "a2", "d2", "d3", "e3",
		"#hash", "!bang", "trail", "blank ", "aab", "a-b", "one/mid", "one/two/mid", "dir/keep", "1x", "]y", "-w", "esc*", "escx", "no[close", "end", "foo/1/bar", "foo/1/2/bar", "bom", ".hid/m.o",
	}
	base := scratch.Dir(t, nil)
	count := 0
	rapid.Check(t, func(t *rapid.T) {
		count++
		dir := filepath.Join(base, fmt.Sprint(count))
		files := map[string]string{}
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 4, 20, rapid.ID).Draw(t, "names")
		var kept []string
		for _, n := range some {
			if !slices.ContainsFunc(kept, func(k string) bool { return strings.HasPrefix(k, n+"/") || strings.HasPrefix(n, k+"/") }) {
				kept = append(kept, n)
				files[n] = "x"
			}
		}
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		for _, at := range []string{"", "a/", "sub/"} {
			files[at+".gitignore"] = strings.Join(rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 5).Draw(t, "patterns in "+at), eol)
		}
		if slices.Contains(kept, "a") || slices.Contains(kept, "sub") {
			return
		}
		scratch.Fill(t, dir, files)
		initGit(t, dir)
		slices.Sort(kept)
		want := gitIgnored(t, dir, kept)
		slices.Sort(want)
		if diff := cmp.Diff(want, ours(t, dir, kept), cmp.Transformer("none", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Fatalf("%q: git (-) and we (+):\n%s", files, diff)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
}

// A search below the top of a repository, or of the workspace, honours the files above
// it.
func TestIgnoreAbove(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{
		".gitignore": "/sub/inner/secret\n*.tmp\n", "sub/.gitignore": "inner/gone\n", "sub/inner/secret": "foo\n",
		"sub/inner/a.tmp": "foo\n", "sub/inner/gone": "foo\n", "sub/inner/kept": "foo\n",
	})
	inner := filepath.Join(dir, "sub", "inner")
	check := func(where string, f Folder, want ...string) {
		t.Helper()
		found := both(t, f, Query{Regex: "foo", Limit: 10})
		var got []string
		for _, file := range found.Files {
			got = append(got, file.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", where, diff)
		}
	}
	check("the workspace's own files count", folder(inner, dir), "kept")
	check("nothing counts from above the workspace", folder(inner, inner), "a.tmp", "gone", "kept", "secret")
	scratch.Need(t, "git")
	initGit(t, dir)
	check("a repository counts up to its top", folder(inner, inner), "kept")
	check("with a workspace inside of it", folder(inner, filepath.Join(dir, "sub")), "kept")
}
