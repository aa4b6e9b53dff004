//go:build unix

package statefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrivate(t *testing.T) {
	if open, err := Private(filepath.Join(t.TempDir(), "none")); open != "" || err != nil {
		t.Errorf("no folder: %q, %v", open, err)
	}
	for _, c := range []struct {
		mode os.FileMode
		want string
	}{{0o700, ""}, {0o755, "could read"}, {0o710, "could read"}, {0o770, "could write to"}, {0o777, "could write to"}} {
		dir := filepath.Join(t.TempDir(), "home")
		if err := os.MkdirAll(filepath.Join(dir, "sessions"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		for again, want := range []string{c.want, ""} {
			open, err := Private(dir)
			if err != nil || (open == "") != (want == "") || !strings.Contains(open, want) {
				t.Errorf("%o, time %d: %q, %v", c.mode, again, open, err)
			}
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%o: left as %v, %v", c.mode, info.Mode(), err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Private(file); err == nil {
		t.Error("a file is taken")
	}
}

// Files of another user are left alone and refused.
func TestPrivateOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	planted := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(planted, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(planted, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Private(dir); err == nil || !strings.Contains(err.Error(), planted) {
		t.Error("a file that another user has put there:", err)
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := Private(dir); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Error(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777 {
		t.Error("it was changed:", info.Mode(), err)
	}
}
