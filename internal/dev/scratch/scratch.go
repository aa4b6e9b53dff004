// Package scratch makes folders, files and workspaces for one test. It removes them at
// the test's end; errors end the test.
package scratch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TB is the part of testing.TB that a *rapid.T has too.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Dir makes a folder whose path has no symbolic link in it, with files by name, see
// Fill.
func Dir(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	Fill(t, dir, files)
	return dir
}

// Fill writes files into dir: texts by their names with slashes, below dir. A name
// that ends in a slash makes a folder.
func Fill(t TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			Mkdir(t, path)
			continue
		}
		Write(t, path, text)
	}
}

// Abs returns the absolute path of this system for one that begins with a slash, of a file that need
// not exist: on Windows, C:\a\b for /a/b.
func Abs(path string) string {
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = "C:" + path
	}
	return path
}

// SetHome makes dir the user's home for the time of the test, on each system.
func SetHome(t testing.TB, dir string) {
	t.Helper()
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
}

// Input returns a file with text, open for reading until the test ends.
func Input(t testing.TB, text string) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in")
	Write(t, name, text)
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Mkdir makes a folder and those above it.
func Mkdir(t TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// Write writes a file, and makes the folders above it.
func Write(t TB, path, text string) {
	t.Helper()
	write(t, path, text, 0o600)
}

// Program is Write for a file that can be run.
func Program(t TB, path, text string) {
	t.Helper()
	write(t, path, text, 0o700)
}

func write(t TB, path, text string, mode os.FileMode) {
	t.Helper()
	Mkdir(t, filepath.Dir(path))
	if err := writeFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// writeFile writes a file while nothing is started: a program that a child has open for
// writing, for the instant before it becomes another, cannot be run ("text file busy").
func writeFile(path string, data []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, data, mode)
}

// Read returns the text of a file.
func Read(t TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Workspace opens dir as a workspace, and closes it at the test's end.
func Workspace(t testing.TB, dir string, opt workspace.Options) *workspace.Root {
	t.Helper()
	root, err := workspace.Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return root
}
