package statefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// role is the environment variable with the role of a re-executed test binary.
const role = "STATEFILE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "write":
		writeForever(os.Args[1])
	case "lock":
		holdLock(os.Args[1])
	default:
		os.Exit(m.Run())
	}
}

// child starts this binary in a role on path and returns its output, line by line.
func child(t *testing.T, as, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), role+"="+as)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // keeps the child waiting
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// noModes is true on Windows, where files have no mode bits: they are private by the folder that they are in.
const noModes = runtime.GOOS == "windows"

func TestWriteMakesPrivateFilesAndFolders(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o277} {
		t.Run(fmt.Sprintf("umask %03o", mask), func(t *testing.T) {
			base := t.TempDir()
			defer setUmask(setUmask(mask))
			path := filepath.Join(base, "a", "b", "file")
			if err := Write(path, []byte("one")); err != nil {
				t.Fatal(err)
			}
			if err := Write(path, []byte("two")); err != nil {
				t.Fatal(err)
			}
			if got := modeOf(t, path).Perm(); got != 0o600 && !noModes {
				t.Errorf("file has mode %o", got)
			}
			for _, dir := range []string{"a", "a/b"} {
				if got := modeOf(t, filepath.Join(base, dir)).Perm(); got != 0o700 && !noModes {
					t.Errorf("folder %s has mode %o", dir, got)
				}
			}
			if got := entries(t, filepath.Dir(path)); len(got) != 1 {
				t.Errorf("left behind: %v", got)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != "two" {
				t.Errorf("holds %q, %v", got, err)
			}
		})
	}
}

func TestWriteKeepsSymlink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if modeOf(t, link)&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "new" {
		t.Errorf("target holds %q, %v", got, err)
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("x")); err == nil {
		t.Fatal("a folder was replaced by a file")
	}
	if got := entries(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
	if err := Write(filepath.Join(dir, "file"), nil); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "file", "below"), nil); err == nil {
		t.Error("wrote below a file")
	}
}

func TestOpenAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "log")
	for i := range 3 {
		f, err := OpenAppend(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(f, i)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil { // undone by the next open
			t.Fatal(err)
		}
	}
	f, err := OpenAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := os.ReadFile(path); err != nil || string(got) != "0\n1\n2\n" {
		t.Errorf("holds %q, %v", got, err)
	}
	if got := modeOf(t, path).Perm(); got != 0o600 && !noModes {
		t.Errorf("mode %o", got)
	}
}

func TestLockExcludesOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dir", "lock")
	cmd, lines := child(t, "lock", path)
	if !lines.Scan() || lines.Text() != "held" {
		t.Fatalf("child says %q", lines.Text())
	}
	if _, err := TryAcquire(path); !errors.Is(err, ErrLocked) {
		t.Errorf("TryAcquire while held: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Acquire(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Acquire while held: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	l, err := Acquire(t.Context(), path) // the system releases the dead child's lock
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if l, err = TryAcquire(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

func holdLock(path string) {
	if _, err := TryAcquire(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "held")
	_, _ = io.Copy(io.Discard, os.Stdin) // until killed
}

// TestKilledWriterLeavesOldOrNew kills a process that keeps rewriting a file, each time
// with a text of one letter.
func TestKilledWriterLeavesOldOrNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for range 40 {
		cmd, lines := child(t, "write", path)
		for range 3 {
			if !lines.Scan() {
				t.Fatal("the child died by itself")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		got, err := os.ReadFile(path)
		if err != nil || len(got) != 64<<10 || strings.Trim(string(got), string(got[:1])) != "" {
			t.Fatalf("torn: %d bytes, %v", len(got), err)
		}
	}
}

func writeForever(path string) {
	for i := 0; ; i++ {
		if err := Write(path, []byte(strings.Repeat(string(rune('a'+i%26)), 64<<10))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Fprintln(os.Stdout, i)
	}
}

// A process that has the file open continues to write to the moved file. On Windows it stays.
func TestRenameKeepsWriters(t *testing.T) {
	from := filepath.Join(t.TempDir(), "a")
	f, err := OpenAppend(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	err = Rename(from, from+".1")
	if runtime.GOOS == "windows" {
		if !Busy(err) {
			t.Errorf("a file that is open: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("late"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(from + ".1"); err != nil || string(got) != "late" {
		t.Errorf("%q, %v", got, err)
	}
}

// A file that the lock itself keeps from being removed is not waited for before the release.
func TestRemoveWaitsForNoLockOfItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := TryAcquire(path)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	note := func(name string, err error) func(string) error {
		return func(path string) error {
			calls = append(calls, fmt.Sprintf("%s, held %t", name, Held(path)))
			return err
		}
	}
	if err := l.remove(note("once", errors.New("busy")), note("patiently", nil)); err != nil || strings.Join(calls, "; ") != "once, held true; patiently, held false" {
		t.Errorf("%q, %v", calls, err)
	}
}
