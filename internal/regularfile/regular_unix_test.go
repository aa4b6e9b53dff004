//go:build unix

package regularfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// Anything with the name of a file is answered at once, and read only if it is a regular
// file within the limit.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int{"empty": 0, "full": 10, "over": 11} {
		scratch.Write(t, at(name), strings.Repeat("x", size))
	}
	for _, err := range []error{
		syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700), os.WriteFile(at("sparse"), nil, 0o600), os.Truncate(at("sparse"), 30<<30),
		os.Symlink("full", at("link")), os.Symlink("pipe", at("to pipe")), os.Symlink("sparse", at("to sparse")),
		os.Symlink("/dev/zero", at("to zero")), os.Symlink("link", at("to link")), os.Symlink("loop", at("loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]error{
		"empty": nil, "full": nil, "over": ErrTooLarge, "pipe": ErrNotRegular, "folder": ErrNotRegular, "sparse": ErrTooLarge, "link": nil,
		"to pipe": ErrNotRegular, "to sparse": ErrTooLarge, "to link": nil, "loop": syscall.ELOOP, "missing": fs.ErrNotExist, "to zero": ErrNotRegular,
	} {
		for way, read := range map[string]func() ([]byte, error){
			"ReadFile": func() ([]byte, error) { return ReadFile(at(name), 10) },
			"ReadIn":   func() ([]byte, error) { return ReadIn(root, name, 10) },
			"ReadFS":   func() ([]byte, error) { return ReadFS(os.DirFS(dir), name, 10) },
		} {
			data, err := read()
			leaves := way == "ReadIn" && (name == "to zero" || name == "loop") // os.Root has its own error
			if !errors.Is(err, want) && !(leaves && err != nil) {
				t.Errorf("%s %s: %v, want %v", way, name, err, want)
			}
			if want != nil && data != nil || want == nil && name != "empty" && string(data) != "xxxxxxxxxx" {
				t.Errorf("%s %s: %d bytes", way, name, len(data))
			}
		}
	}
	for name, want := range map[string]error{"folder": nil, "pipe": ErrNotFolder, "full": ErrNotFolder} {
		f, err := OpenFolder(root, name)
		if !errors.Is(err, want) {
			t.Errorf("folder %s: %v, want %v", name, err, want)
		}
		if err == nil && f.Close() != nil {
			t.Errorf("folder %s is closed already", name)
		}
	}
}

// A file without a size, as in /proc, is read up to the limit.
func TestReadWithoutSize(t *testing.T) {
	if _, err := os.Stat("/proc/self/maps"); err != nil {
		t.Skip(err)
	}
	if _, err := ReadFile("/proc/self/maps", 10); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if data, err := ReadFile("/proc/self/comm", 100); err != nil || len(data) == 0 {
		t.Errorf("%q, %v", data, err)
	}
}
