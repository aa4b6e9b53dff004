package scratch

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// Need skips the test if a program is missing on Windows: Wine has none of ours. Elsewhere the test
// then fails.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil && runtime.GOOS == "windows" {
			t.Skip(name + " is not installed")
		}
	}
}

// Symlink makes a symbolic link, or skips the test on Windows: few people may make links there, and
// Wine reports success but makes none.
func Symlink(t testing.TB, target, link string) {
	t.Helper()
	err := os.Symlink(target, link)
	if err == nil {
		_, err = os.Readlink(link)
	}
	switch {
	case err != nil && runtime.GOOS == "windows":
		t.Skip("no symbolic links here: ", err)
	case err != nil:
		t.Fatal(err)
	}
}
