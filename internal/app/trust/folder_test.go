package trust

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// use returns the answer about dir and saves what follows from it.
func use(t *testing.T, s Store, dir string) Answer {
	t.Helper()
	a, err := s.Use(t.Context(), look(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// makeAnew deletes dir and makes it again with the same file: the new folder may have the
// inode of the old one or another.
func makeAnew(t *testing.T, dir string) {
	t.Helper()
	config, err := os.ReadFile(filepath.Join(dir, ConfigFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	scratch.Mkdir(t, filepath.Join(dir, ".agent"))
	scratch.Write(t, filepath.Join(dir, ConfigFile), string(config))
}

// An answer is for the folder itself: a different one at its path is asked about, and so is
// the same one at another path.
func TestAnswersAreForTheFolderItself(t *testing.T) {
	s := Open(t.TempDir())
	parent := scratch.Dir(t, map[string]string{"a/.agent/config.yaml": "x", "no/.agent/config.yaml": "x"})
	a, no := filepath.Join(parent, "a"), filepath.Join(parent, "no")
	trust := func(dir string, yes bool) {
		t.Helper()
		f := look(t, dir)
		if f.Folder == (Folder{}) {
			t.Fatal("the system does not identify folders")
		}
		if err := s.Set(t.Context(), Entry{Dir: dir, Folder: f.Folder, Trusted: yes, Hash: f.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	trust(a, true)
	trust(no, false)
	if x, y := use(t, s, a), use(t, s, no); x != Trusted || y != Refused {
		t.Fatal(x, y)
	}
	makeAnew(t, a)
	makeAnew(t, no)
	if x, y := use(t, s, a), use(t, s, no); x != Replaced || y != Unknown {
		t.Errorf("made anew: %v and %v", x, y)
	}

	trust(a, true)
	moved := filepath.Join(parent, "moved")
	if err := os.Rename(a, moved); err != nil {
		t.Fatal(err)
	}
	if got := use(t, s, moved); got != Unknown {
		t.Errorf("renamed: %v", got)
	}
	if err := os.Rename(no, a); err != nil {
		t.Fatal(err)
	}
	if got := use(t, s, a); got != Replaced {
		t.Errorf("moved to its path: %v", got)
	}
	if err := os.RemoveAll(a); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(moved, a); err != nil {
		t.Fatal(err)
	}
	if got := use(t, s, a); got != Trusted {
		t.Errorf("moved back: %v", got)
	}
}

// A folder is trusted by the one above only while that is the folder that was trusted.
func TestTrustIsDerivedFromTheFolderItself(t *testing.T) {
	s := Open(t.TempDir())
	parent := filepath.Join(scratch.Dir(t, map[string]string{"p/.agent/config.yaml": "x"}), "p")
	add := func(name string) string {
		t.Helper()
		scratch.Mkdir(t, filepath.Join(parent, name, ".agent"))
		scratch.Write(t, filepath.Join(parent, name, ConfigFile), "x")
		return filepath.Join(parent, name)
	}
	f := look(t, parent)
	if err := s.Set(t.Context(), Entry{Dir: parent, Folder: f.Folder, Trusted: true, Hash: f.Hash}); err != nil {
		t.Fatal(err)
	}
	below := add("below")
	if got := use(t, s, below); got != Trusted {
		t.Fatal(got)
	}
	makeAnew(t, below)
	if got := use(t, s, below); got != Replaced {
		t.Errorf("below, made anew: %v", got)
	}
	makeAnew(t, parent)
	if got := use(t, s, add("new")); got != Unknown {
		t.Errorf("the one above was made anew: %v", got)
	}
}

// The birth of a folder tells it from one with its inode; the device, whose number may
// change when the system restarts, counts only without it.
func TestSameFolder(t *testing.T) {
	for name, c := range map[string]struct {
		a, b Folder
		want bool
	}{
		"the same":             {Folder{1, 2, 3}, Folder{1, 2, 3}, true},
		"born later":           {Folder{1, 2, 3}, Folder{1, 2, 4}, false},
		"other inode":          {Folder{1, 2, 3}, Folder{1, 3, 3}, false},
		"after a restart":      {Folder{1, 2, 3}, Folder{9, 2, 3}, true},
		"other device":         {Folder{1, 2, 0}, Folder{9, 2, 0}, false},
		"birth no longer told": {Folder{1, 2, 3}, Folder{1, 2, 0}, true},
		"gone":                 {Folder{1, 2, 3}, Folder{}, false},
	} {
		if got := c.a.is(c.b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
