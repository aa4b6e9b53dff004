// Package golden compares output with files that hold the wanted output. Run the
// tests of a package with -update to rewrite its files; read the diff before you
// commit them.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// File compares got with testdata/NAME.golden.
func File(t testing.TB, name, got string) {
	t.Helper()
	compare(t, filepath.Join("testdata", name+".golden"), got)
}

// Lines is File for the lines of a screen, with escape characters made visible.
func Lines(t testing.TB, name string, lines []string) {
	t.Helper()
	File(t, name, strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\x1b", "␛"))
}

// Source compares got with a file of the tree that is generated from the code.
func Source(t testing.TB, path string, got []byte) {
	t.Helper()
	compare(t, path, string(got))
}

// Section compares got with the text between the lines begin and end of a file that
// is otherwise written by hand.
func Section(t testing.TB, path, begin, end, got string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin+"\n")
	_, after, ok2 := strings.Cut(rest, end+"\n")
	if !ok || !ok2 {
		t.Fatalf("%s has no section from %q to %q", path, begin, end)
	}
	compare(t, path, before+begin+"\n"+got+end+"\n"+after)
}

// compare fails the test if the file does not hold got.
func compare(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update to create it", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; run the test with -update if the change is meant (-want +got):\n%s", path, d)
	}
}

// write writes only what differs, so that a file keeps its time.
func write(t testing.TB, path, text string) {
	t.Helper()
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
