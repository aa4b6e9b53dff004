package shell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestChildless: a program with no children but shells need not look for processes; any
// other child, alive or dead, makes it look.
func TestChildless(t *testing.T) {
	f := newFamily()
	if !hasNoChild() || !f.childless() {
		t.Fatal("a child is seen where there is none")
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	shell, _, err := f.start(cmd, nil, os.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	if hasNoChild() || !f.childless() {
		t.Errorf("with a shell alone: no child %v, childless %v", hasNoChild(), f.childless())
	}
	if e, err := readEntry(shell.pid); err != nil || e.identity != shell || e.parent != os.Getpid() || e.zombie {
		t.Errorf("entry %+v, %v; want %+v", e, err, shell)
	}
	other := exec.Command("true")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if f.childless() {
		t.Error("another child, alive or dead, is not seen")
	}
	if err := other.Wait(); err != nil {
		t.Errorf("the status of a child was taken away by looking: %v", err)
	}
	if !f.childless() {
		t.Error("a child that was waited for is seen")
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	f.reaped(shell.pid)
	f.release(shell.pid)
	if !f.childless() || len(f.shells) > 0 || f.active != 0 {
		t.Errorf("at the end: %+v", f.shells)
	}
}

// TestShellThatDoesNotStart: it leaves nothing registered.
func TestShellThatDoesNotStart(t *testing.T) {
	f := newFamily()
	if _, _, err := f.start(exec.Command(filepath.Join(t.TempDir(), "nothing")), nil, os.Stdin); err == nil {
		t.Error("no error")
	}
	if len(f.shells) > 0 || f.active != 0 {
		t.Errorf("%v, %d active", f.shells, f.active)
	}
}

// TestReadProc: it reads the same as os.ReadFile, of any length, and its errors name the
// file.
func TestReadProc(t *testing.T) {
	for _, name := range []string{"/proc/self/cmdline", "/proc/self/limits", "/proc/self/environ", "/proc/cpuinfo"} {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readProc(name)
		if err != nil || !linesAgree(string(want), string(got)) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
		}
	}
	var path *os.PathError
	if _, err := readProc("/proc/self/nothing"); !errors.As(err, &path) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := readProc("/proc/self/task"); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a folder: %v", err)
	}
}

// linesAgree reports whether two readings have equally many lines with the same first
// words: figures change in between.
func linesAgree(a, b string) bool {
	first := func(s string) (words []string) {
		for line := range strings.Lines(s) {
			word, _, _ := strings.Cut(line, " ")
			words = append(words, word)
		}
		return words
	}
	return cmp.Equal(first(a), first(b))
}

// TestReadEntry: a process that is gone gives an error, and a killed one that was not
// waited for is a zombie of the same identity.
func TestReadEntry(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	before, err := readEntry(pid)
	if err != nil || before.session != pid || before.name == "" || before.start != birth(pid) || before.start == 0 {
		t.Errorf("%+v, %v", before, err)
	}
	if hasMark(pid, "NO_SUCH_MARK=") || feeds(pid, os.Stdin) {
		t.Error("it is taken for a command's")
	}
	kill(pid, []process{{identity: identity{pid: pid, start: before.start + 1}, name: "another one"}})
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the group was not killed: %v", err)
	}
	if e, err := readEntry(pid); err == nil {
		t.Errorf("it is gone, but %+v", e)
	}
	if birth(pid) != 0 || hasMark(pid, "PATH=") || feeds(pid, os.Stdin) {
		t.Error("what is gone has properties")
	}
}

func TestSignalSparesAnotherProcess(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	nobody := 1 << 30 // no group has such a number
	signal(nobody, []process{{identity: identity{pid: pid, start: birth(pid) - 1}, name: "sleep"}}, syscall.SIGKILL)
	signal(nobody, nil, syscall.SIGKILL)
	signal(nobody, []process{{identity: identity{pid: pid, start: birth(pid)}, name: "sleep"}}, syscall.SIGTERM)
	if err := cmd.Wait(); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("%v; want the one signal that was meant for it", err)
	}
}

func TestAddDescendants(t *testing.T) {
	var all []entry
	for pid, parent := range []int{0, 0, 1, 2, 9, 3, 4, 9} { // a child may come before its parent
		e := entry{parent: parent}
		e.pid = pid
		all = append([]entry{e}, all...)
	}
	mine := map[int]bool{2: true}
	addDescendants(all, mine)
	if diff := cmp.Diff(map[int]bool{2: true, 3: true, 5: true}, mine); diff != "" {
		t.Error(diff)
	}
}

func TestExitCode(t *testing.T) {
	if got := exitCode(nil); got != -1 {
		t.Errorf("of a shell that somebody else waited for: %d", got)
	}
}

// TestMarkDuringExec: a process that replaces its program has no environment for a moment,
// and still the mark.
func TestMarkDuringExec(t *testing.T) {
	again := filepath.Join(t.TempDir(), "again")
	scratch.Program(t, again, "#!/bin/sh\nexec \"$0\"\n")
	cmd := exec.Command(again)
	cmd.Env = []string{newMark() + "1"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for i := range 5000 {
		if !hasMark(cmd.Process.Pid, cmd.Env[0]) {
			t.Fatalf("no mark in look %d", i)
		}
	}
	if hasMark(cmd.Process.Pid, newMark()) {
		t.Error("another mark")
	}
}
