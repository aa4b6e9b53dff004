package modelcontext

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// The instructions of an installed package are not the project's.
func TestFoldersOfPackagesAreLeftOut(t *testing.T) {
	top := t.TempDir()
	b := &Builder{opt: Options{Dir: top}}
	for file, want := range map[string][]string{
		"a/b/x":                  {"a", "a/b"},
		"a/node_modules/left/x":  {"a"},
		"vendor/example.com/m/x": nil,
	} {
		_, dirs := b.foldersTo(filepath.Join(top, filepath.FromSlash(file)))
		for i, d := range dirs {
			rel, err := filepath.Rel(top, d)
			if err != nil {
				t.Fatal(err)
			}
			dirs[i] = filepath.ToSlash(rel)
		}
		if d := cmp.Diff(want, dirs); d != "" {
			t.Error(file, d)
		}
	}
}

// TestInnerWorkTree: the instructions of an inner work tree, which are those of the outer one, are
// told once; its own are told.
func TestInnerWorkTree(t *testing.T) {
	top := scratch.Dir(t, map[string]string{
		".git/HEAD": "", "AGENTS.md": "Use tabs.\n", "trees/a/AGENTS.md": "Use tabs.\n", "trees/a/a.txt": "a\n", "trees/b/AGENTS.md": "Use blanks.\n", "trees/b/b.txt": "b\n",
		"trees/b/in/AGENTS.md": "Use blanks.\n", "trees/b/in/c.txt": "c\n", "trees/d/AGENTS.md": "Use blanks.\n", "trees/d/d.txt": "d\n",
	})
	b := New(Options{Dir: top, Roots: []string{top}})
	if got := b.System(t.Context()); strings.Count(got, "Use tabs.") != 1 {
		t.Errorf("the prompt is %s", got)
	}
	for _, c := range []struct{ file, want string }{{"trees/a/a.txt", ""}, {"trees/b/in/c.txt", "Use blanks."}, {"trees/d/d.txt", "Use blanks."}} {
		text, refused := b.Below(filepath.Join(top, filepath.FromSlash(c.file)), func(Instruction) bool { return true })
		if (text == "") != (c.want == "") || strings.Count(text, "Use ") != min(1, len(c.want)) || !strings.Contains(text, c.want) || len(refused) > 0 {
			t.Errorf("%s: %q", c.file, text)
		}
	}
}

// A conversation that has lost messages is told the instructions of a folder again.
func TestInstructionsAreToldAgain(t *testing.T) {
	top := scratch.Dir(t, map[string]string{"sub/AGENTS.md": "Use tabs.\n", "sub/a.txt": "a\n"})
	apart := New(Options{Dir: top, Roots: []string{top}}).Apart()
	told := func() bool {
		text, _ := apart.Below(filepath.Join(top, "sub", "a.txt"), func(Instruction) bool { return true })
		return strings.Contains(text, "Use tabs.")
	}
	if !told() || told() {
		t.Error("it is not told once")
	}
	if apart.Retell(); !told() {
		t.Error("it is not told again")
	}
}
