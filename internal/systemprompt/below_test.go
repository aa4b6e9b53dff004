package systemprompt

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
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
