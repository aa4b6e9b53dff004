package search

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// A folder whose names are remembered is read again after each change: an ignore file that
// rg must not read is found, also in the place of a good one.
func TestSeenFoldersThatChange(t *testing.T) {
	rg := ripgrepPath(t)
	for name, change := range map[string]func(dir string) error{
		"nothing": func(string) error { return nil },
		"a link":  func(dir string) error { return os.Symlink("/dev/zero", filepath.Join(dir, "sub/.gitignore")) },
		"a link in the place of a file": func(dir string) error {
			link := filepath.Join(dir, "sub/link")
			if err := os.Symlink("/dev/zero", link); err != nil {
				return err
			}
			return os.Rename(link, filepath.Join(dir, "other/.gitignore"))
		},
		"a file that grows":        func(dir string) error { return os.Truncate(filepath.Join(dir, "other/.gitignore"), 30<<30) },
		"a link in a new folder":   func(dir string) error { return linkIn(filepath.Join(dir, "new")) },
		"a folder that is ignored": func(dir string) error { return linkIn(filepath.Join(dir, "other/out")) },
	} {
		dir := scratch.Dir(t, map[string]string{"a": "needle\n", "sub/b": "needle\n", "other/.gitignore": "out\n"})
		f, seen := folder(dir, dir), &Seen{now: func() time.Time { return time.Now().Add(time.Hour) }}
		q := Query{Regex: "needle", Ripgrep: rg, Seen: seen}
		for range 2 {
			if names, ok := f.ripgrep(t.Context(), q); !ok || len(names) != 2 {
				t.Fatalf("%s: before: %q, %v", name, names, ok)
			}
		}
		if len(seen.folders) != 3 {
			t.Errorf("%s: %d folders are remembered", name, len(seen.folders))
		}
		tick(t, dir)
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		fit := name == "nothing" || name == "a folder that is ignored"
		if _, ok := f.ripgrep(t.Context(), q); ok != fit {
			t.Errorf("%s: rg was used: %v", name, ok)
		}
	}
	seen := &Seen{}
	dir := scratch.Dir(t, map[string]string{"a": ""})
	if _, fits := folder(dir, dir).fit(t.Context(), seen); !fits || len(seen.folders) != 0 {
		t.Errorf("%d folders are remembered right after their change", len(seen.folders))
	}
}

// The sizes of files are looked at again only after a while. Meanwhile a file that has grown is not searched either.
func TestSizesAreBelieved(t *testing.T) {
	rg := ripgrepPath(t)
	dir := scratch.Dir(t, map[string]string{"log": "needle\n", "b": "needle\n"})
	later := time.Hour
	f, seen := folder(dir, dir), &Seen{now: func() time.Time { return time.Now().Add(later) }}
	fit := func(want ...string) {
		t.Helper()
		if large, ok := f.fit(t.Context(), seen); !ok || !slices.Equal(large, want) {
			t.Errorf("large: %q, %v; want %q", large, ok, want)
		}
	}
	fit()
	write := func(size int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "log"), bytes.Repeat([]byte("needle\n"), size/7+1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(MaxFile)
	fit()
	q := Query{Regex: "needle", Ripgrep: rg, Seen: seen, Limit: 5}
	found, err := f.Grep(t.Context(), q)
	if err != nil || len(found.Files) != 1 || !slices.Equal(found.Unsearched, []string{"log"}) {
		t.Errorf("after it has grown: %+v, %v", found, err)
	}
	later += sizesLast
	fit("log")
	write(0)
	if found, err = f.Grep(t.Context(), q); err != nil || len(found.Files) != 2 || len(found.Unsearched) > 0 {
		t.Errorf("after it has shrunk: %+v, %v", found, err)
	}
}

// linkIn makes a folder with a .gitignore that never ends.
func linkIn(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Symlink("/dev/zero", filepath.Join(dir, ".gitignore"))
}

// tick waits until the file system's clock has moved on since the last change in dir.
func tick(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "clock")
	last, err := os.Stat(filepath.Join(dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	for {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		now, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if changedAt(now).After(changedAt(last)) {
			return
		}
	}
}
