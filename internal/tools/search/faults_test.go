package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// faulty is a file system in which opening or reading some files fails. It counts the
// faults.
type faulty struct {
	fs.FS
	open, read map[string]bool // names that fail
	visited    func(name string)

	mu    sync.Mutex
	fired int
}

var errFault = errors.New("fault")

func (f *faulty) fire() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fired++
	return errFault
}

func (f *faulty) Open(name string) (fs.File, error) {
	if f.visited != nil {
		f.visited(name)
	}
	if f.open[name] {
		return nil, f.fire()
	}
	file, err := f.FS.Open(name)
	if err == nil && f.read[name] {
		return &faultyFile{file, f}, nil
	}
	return file, err
}

type faultyFile struct {
	fs.File
	fs *faulty
}

func (f *faultyFile) Read([]byte) (int, error) { return 0, f.fs.fire() }

// Unreadable files are named, and the rest is found.
func TestUnreadableFiles(t *testing.T) {
	files := map[string]string{
		"a": "needle\n", "b": "needle\n", "closed/c": "needle\n", "d/e": "needle\n", "d/.gitignore": "x\n", "d/x": "needle\n",
		"f/.gitignore": "*\n", "f/g": "needle\n",
	}
	tests := []struct {
		name  string
		open  []string
		read  []string
		found []string
	}{
		{"nothing wrong", nil, nil, []string{"a", "b", "closed/c", "d/e"}},
		{"a file that does not open", []string{"a"}, nil, []string{"b", "closed/c", "d/e"}},
		{"a file that does not read", nil, []string{"b"}, []string{"a", "closed/c", "d/e"}},
		{"a folder that does not open", []string{"closed"}, nil, []string{"a", "b", "d/e"}},
		{"a .gitignore that does not open ignores nothing", []string{"d/.gitignore"}, nil, []string{"a", "b", "closed/c", "d/e", "d/x"}},
		{"a .gitignore that does not read ignores nothing", nil, []string{"f/.gitignore"}, []string{"a", "b", "closed/c", "d/e", "f/g"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := &faulty{FS: os.DirFS(scratch.Dir(t, files)), open: map[string]bool{}, read: map[string]bool{}}
			for _, name := range tt.open {
				fsys.open[name] = true
			}
			for _, name := range tt.read {
				fsys.read[name] = true
			}
			found, err := Folder{FS: fsys}.Grep(t.Context(), Query{Regex: "needle", Limit: 20})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found.Files {
				got = append(got, f.Path)
			}
			if diff := cmp.Diff(tt.found, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var unsearched []string
			for _, name := range slices.Concat(tt.open, tt.read) {
				if name == "closed" {
					name += "/"
				}
				unsearched = append(unsearched, name)
			}
			if diff := cmp.Diff(unsearched, found.Unsearched); diff != "" {
				t.Errorf("unsearched: (-want +got)\n%s", diff)
			}
			if wanted := len(tt.open) + len(tt.read); (fsys.fired > 0) != (wanted > 0) {
				t.Errorf("%d faults fired", fsys.fired)
			}
		})
	}
}

// An unreadable folder is an error, not an empty answer.
func TestUnreadableFolder(t *testing.T) {
	fsys := &faulty{FS: os.DirFS(scratch.Dir(t, map[string]string{"a": "x"})), open: map[string]bool{".": true}}
	f := Folder{FS: fsys}
	_, grepErr := f.Grep(t.Context(), Query{Regex: "x", Limit: 1})
	_, findErr := f.Find(t.Context(), "*", 1)
	_, listErr := f.List(t.Context(), false, 1)
	_, allErr := f.List(t.Context(), true, 1)
	for name, err := range map[string]error{"Grep": grepErr, "Find": findErr, "List": listErr, "List, recursive": allErr} {
		if !errors.Is(err, errFault) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if fsys.fired != 4 {
		t.Errorf("%d faults fired, want 4", fsys.fired)
	}
}

// A cancelled search ends with the context's error, wherever it is.
func TestCancelledOnTheWay(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{"a/b/c/d": "needle\n", "a/e": "needle\n", "f": "needle\n"})
	for at, walking := range map[string]bool{".": true, "a": true, "a/b/c": true, "a/b/c/d": false, "f": false} {
		ctx, cancel := context.WithCancel(t.Context())
		fsys := &faulty{FS: os.DirFS(dir), visited: func(name string) {
			if name == at {
				cancel()
			}
		}}
		found, err := Folder{FS: fsys}.Grep(ctx, Query{Regex: "needle", Limit: 5})
		cancel()
		// The last file may have been in progress at the end.
		if err == nil && found.Matches != 3 || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %s: %d matches, %v", at, found.Matches, err)
		}
		if walking && err == nil {
			t.Errorf("cancelled at %s, and searched all the same", at)
		}
	}
}

// Neither engine follows links or reads irregular files.
func TestOnlyRegularFiles(t *testing.T) {
	outside := scratch.Dir(t, map[string]string{"secret": "needle\n", "folder/x": "needle\n"})
	dir := scratch.Dir(t, map[string]string{"file": "needle\n", "sub/file": "needle\n"})
	for name, target := range map[string]string{
		"link": "file", "out": filepath.Join(outside, "secret"), "folder": filepath.Join(outside, "folder"), "loop": ".", "sub/up": "..", "gone": "nowhere",
	} {
		scratch.Symlink(t, target, filepath.Join(dir, name))
	}
	found := both(t, folder(dir, dir), Query{Regex: "needle", Limit: 20})
	var got []string
	for _, f := range found.Files {
		got = append(got, f.Path)
	}
	if diff := cmp.Diff([]string{"file", "sub/file"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	names, err := folder(dir, dir).List(t.Context(), true, 20)
	want := Names{Names: []string{"file", "folder", "gone", "link", "loop", "out", "sub/", "sub/file", "sub/up"}, Total: 9}
	if diff := cmp.Diff(want, names); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
