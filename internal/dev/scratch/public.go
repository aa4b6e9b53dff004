package scratch

import (
	"os"
	"testing"
)

// Public makes a folder that every user may use, also where t.TempDir is the user's own.
func Public(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "public")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Copy copies a program to a path at which every user may run it.
func Copy(t testing.TB, program, to string) string {
	t.Helper()
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}
