package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestResolve(t *testing.T) {
	w := open(t)
	extra := reopen(t, t.TempDir(), w.Home, workspace.Options{})
	w = reopen(t, w.Dir(), w.Home, workspace.Options{Extra: []string{extra.Dir()}})
	extra.Write("lib/x", "x")
	w.Write("a/b/f", "f")
	outside := t.TempDir()
	link := func(target, name string) { symlink(t, target, w.Path(name)) }
	link("a/b", "in")
	link(w.Path("a"), "absolute")
	link("in/../../a/b/f", "crooked")
	link(outside, "out")
	link("loop", "loop")
	link("missing", "dangling")
	link(filepath.Join(extra.Dir(), "lib"), "lib")
	tests := []struct {
		path, abs, name string
		outside         bool
	}{
		{path: ".", abs: w.Dir(), name: "."},
		{path: "a/b/f", abs: w.Path("a/b/f"), name: "a/b/f"},
		{path: "./a//b/./f", abs: w.Path("a/b/f"), name: "a/b/f"},
		{path: "a/../a/b/f", abs: w.Path("a/b/f"), name: "a/b/f"},
		{path: w.Path("a/b/f"), abs: w.Path("a/b/f"), name: "a/b/f"},
		{path: "in/f", abs: w.Path("a/b/f"), name: "a/b/f"},
		{path: "in/../f", abs: w.Path("a/f"), name: "a/f"}, // not lexically
		{path: "absolute/b/f", abs: w.Path("a/b/f"), name: "a/b/f"},
		{path: "crooked", abs: w.Path("a/b/f"), name: "a/b/f"},
		{path: "dangling", abs: w.Path("missing"), name: "missing"},
		{path: "new/deep/f", abs: w.Path("new/deep/f"), name: "new/deep/f"},
		{path: "new/../f", abs: w.Path("f"), name: "f"},
		{path: "lib/x", abs: extra.Path("lib/x"), name: extra.Path("lib/x")},
		{path: "out/f", abs: filepath.Join(outside, "f"), name: filepath.Join(outside, "f"), outside: true},
		{path: "..", abs: filepath.Dir(w.Dir()), name: filepath.Dir(w.Dir()), outside: true},
		{path: w.Dir() + "x", abs: w.Dir() + "x", name: w.Dir() + "x", outside: true},
		{path: "/", abs: "/", name: "/", outside: true},
		{path: "~/f", abs: w.Path("~/f"), name: "~/f"},
	}
	for _, tt := range tests {
		abs, name, err := w.Resolve(tt.path)
		if abs != tt.abs || name != tt.name || errors.Is(err, workspace.ErrOutside) != tt.outside || (err != nil) != tt.outside {
			t.Errorf("%s: %s, %s, %v", tt.path, abs, name, err)
		}
	}
	for _, path := range []string{"", "loop", "a\x00b"} {
		if _, _, err := w.Resolve(path); err == nil {
			t.Errorf("%q: no error", path)
		}
	}
}

func TestNothingOutsideIsWrittenOrReadUnasked(t *testing.T) {
	w := open(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	must(t, os.WriteFile(secret, []byte("secret\n"), 0o644))
	symlink(t, outside, w.Path("out"))
	symlink(t, secret, w.Path("link"))
	for _, path := range []string{"out/secret", "link", secret, "out/new", "../" + filepath.Base(w.Dir()) + "x"} {
		if _, err := w.Propose(path, func(workspace.File) (string, error) { return "mine", nil }); !errors.Is(err, workspace.ErrOutside) {
			t.Errorf("propose %s: %v", path, err)
		}
		if _, err := w.Read(path); !errors.Is(err, workspace.ErrOutside) {
			t.Errorf("read %s: %v", path, err)
		}
		if _, err := w.Open(path); !errors.Is(err, workspace.ErrOutside) {
			t.Errorf("open %s: %v", path, err)
		}
	}
	c := workspace.Change{File: workspace.File{Path: filepath.Join(outside, "made"), Name: "x", Format: workspace.Format{Encoding: workspace.UTF8}}, After: "x"}
	if _, err := w.Commit(t.Context(), c, workspace.Origin{}); !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("commit: %v", err)
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) != 1 {
		t.Errorf("outside holds %v, %v", list, err)
	}
}

func TestAllowRead(t *testing.T) {
	w := open(t)
	outside, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, name := range []string{"one", "two", "dir/three"} {
		path := filepath.Join(outside, name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name+"\n"), 0o644)))
	}
	w.Outside().Allow(filepath.Join(outside, "one"))
	w.Outside().Allow(filepath.Join(outside, "dir"))
	for name, ok := range map[string]bool{"one": true, "two": false, "dir/three": true} {
		f, err := w.Read(filepath.Join(outside, name))
		if (err == nil) != ok || ok && f.Text != name+"\n" {
			t.Errorf("%s: %q, %v", name, f.Text, err)
		}
		if _, err := w.Propose(filepath.Join(outside, name), func(workspace.File) (string, error) { return "x", nil }); !errors.Is(err, workspace.ErrOutside) {
			t.Errorf("%s may be written: %v", name, err)
		}
	}
	fsys, _, err := w.FS(filepath.Join(outside, "dir"))
	must(t, err)
	if data, err := fs.ReadFile(fsys, "three"); err != nil || string(data) != "dir/three\n" {
		t.Errorf("through FS: %q, %v", data, err)
	}
	if _, _, err := w.FS(outside); !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("FS of its parent: %v", err)
	}
}

func TestFS(t *testing.T) {
	w := open(t)
	w.Write("a/f", "f\n")
	w.Write("a/b/g", "g\n")
	symlink(t, t.TempDir(), w.Path("a/out"))
	symlink(t, "../../../../../../../etc/passwd", w.Path("a/passwd"))
	symlink(t, "b/g", w.Path("a/inner"))
	fsys, name, err := w.FS("a")
	must(t, err)
	if name != "a" {
		t.Errorf("name %q", name)
	}
	var got []string
	must(t, fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		got = append(got, path)
		return err
	}))
	if diff := cmp.Diff([]string{".", "b", "b/g", "f", "inner", "out", "passwd"}, got); diff != "" {
		t.Error(diff)
	}
	for path, ok := range map[string]bool{
		"f": true, "b/g": true, "inner": true, "passwd": false, "out": false, "out/x": false, "../a/f": false, "/etc/passwd": false, "none": false,
	} {
		_, err := fs.ReadFile(fsys, path)
		if (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
	if info, err := fs.Stat(fsys, "b"); err != nil || !info.IsDir() {
		t.Errorf("stat: %v, %v", info, err)
	}
	if _, err := fs.ReadDir(fsys, "out"); err == nil {
		t.Error("a folder outside was listed")
	}
	for _, path := range []string{"none", "a/f", ".."} {
		if _, _, err := w.FS(path); err == nil {
			t.Errorf("FS of %s: no error", path)
		}
	}
}

func TestHugeFiles(t *testing.T) {
	w := open(t)
	w.Write("sparse", "first line\nsecond ")
	must(t, os.Truncate(w.Path("sparse"), 1<<40))
	if _, err := w.Read("sparse"); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("read: %v", err)
	}
	if _, err := w.Propose("sparse", func(workspace.File) (string, error) { return "", nil }); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("propose: %v", err)
	}
	s, err := w.Open("sparse")
	must(t, err)
	defer s.Close()
	if !s.Binary || s.Info.Size != 1<<40 {
		t.Errorf("binary %v, size %d", s.Binary, s.Info.Size)
	}
	var last error
	lines := 0
	for line, err := range s.Lines(10, 1<<20) {
		if last = err; err != nil {
			break
		}
		if lines++; lines == 1 && line.Text != "first line" {
			t.Errorf("first line %+v", line)
		}
	}
	if lines != 1 || !errors.Is(last, workspace.ErrTooLarge) {
		t.Errorf("%d lines, then %v", lines, last)
	}
	big := strings.Repeat("x", workspace.MaxFileSize)
	w.Edit("big", big, workspace.Origin{})
	if _, err := w.Propose("big", func(f workspace.File) (string, error) { return f.Text + "x", nil }); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
	if _, err := w.Becomes(filepath.Join(w.Dir(), "command"), []byte(big), 0o644, nil); err != nil {
		t.Errorf("as large as a file may be, by a command: %v", err)
	}
	if _, err := w.Becomes(filepath.Join(w.Dir(), "command"), []byte(big+"x"), 0o644, nil); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("one byte too many, by a command: %v", err)
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("é", 40<<10)
	w := open(t)
	w.Write("f", "one\r\n\r\n"+long+"\ntwo\r three\nend")
	s, err := w.Open("f")
	must(t, err)
	defer s.Close()
	var got []workspace.Line
	for line, err := range s.Lines(9, 1<<20) {
		must(t, err)
		got = append(got, line)
	}
	want := []workspace.Line{
		{Text: "one", Length: 3},
		{},
		{Text: "éééé", Length: 80 << 10},
		{Text: "two\r thre", Length: 10},
		{Text: "end", Length: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLinesContinueAfterABreak(t *testing.T) {
	w := open(t)
	w.Write("f", "1\n2\n3\n")
	s, err := w.Open("f")
	must(t, err)
	defer s.Close()
	for line := range s.Lines(9, 100) {
		if line.Text != "1" {
			t.Errorf("first %q", line.Text)
		}
		break
	}
	for line := range s.Lines(9, 100) {
		if line.Text != "2" {
			t.Errorf("then %q", line.Text)
		}
		break
	}
}

// TestStreamAgreesWithRead compares the splitting of lines at buffer borders with the
// whole text.
func TestStreamAgreesWithRead(t *testing.T) {
	w := open(t)
	for _, n := range []int{32<<10 - 3, 32<<10 - 2, 32<<10 - 1, 32 << 10, 32<<10 + 1} {
		for _, eol := range []string{"\n", "\r\n"} {
			text := strings.Repeat("a", n) + eol + strings.Repeat("日", n/2) + eol + "x"
			w.Write("f", text)
			s, err := w.Open("f")
			must(t, err)
			var got []string
			for line, err := range s.Lines(1<<20, 1<<20) {
				must(t, err)
				if int64(len(line.Text)) != line.Length {
					t.Errorf("%d bytes of %d", len(line.Text), line.Length)
				}
				got = append(got, line.Text)
			}
			must(t, s.Close())
			if strings.Join(got, eol) != text {
				t.Errorf("n %d, line ending %q: lines differ", n, eol)
			}
		}
	}
}
