//go:build unix

package search

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// irregular makes things at path that are not readable as ignore files.
var irregular = map[string]func(path string) error{
	"a link to an endless device": func(path string) error { return os.Symlink("/dev/zero", path) },
	"a pipe":                      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a link to a pipe": func(path string) error {
		return errors.Join(syscall.Mkfifo(path+".pipe", 0o600), os.Symlink(filepath.Base(path)+".pipe", path))
	},
	"a sparse file of 30 GB": func(path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 30<<30))
	},
	"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
}

// An irregular or huge ignore file is never read, wherever it is: not by us, and not by
// rg, which would read it until memory is full.
func TestIrregularIgnoreFiles(t *testing.T) {
	rg := ripgrepPath(t)
	for kind, create := range irregular {
		for _, name := range []string{
			".gitignore", "sub/.gitignore", "sub/deep/.gitignore", "../.gitignore", "../../.gitignore",
			".ignore", "sub/.ignore", ".rgignore", "sub/.rgignore", "../.rgignore", "../.ignore", ".git/info/exclude", "sub/.git",
		} {
			outer := scratch.Dir(t, map[string]string{
				".git/HEAD": "ref: refs/heads/main\n", "in/top/.git/info/": "", "in/top/a": "needle\n", "in/top/sub/b": "needle\n", "in/top/sub/deep/c": "needle\n",
			})
			dir := filepath.Join(outer, "in/top")
			if err := create(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			f := folder(dir, dir)
			log := filepath.Join(t.TempDir(), "log")
			spy := program(t, "echo >>"+log+"\nexec "+rg+" \"$@\"\n")
			for _, program := range []string{"", spy} {
				found, err := f.Grep(t.Context(), Query{Regex: "needle", Limit: 9, Ripgrep: program})
				if err != nil || found.Matches != 3 {
					t.Errorf("%s as %s, rg %q: %d matches, %v", kind, name, program, found.Matches, err)
				}
			}
			_, err := os.Stat(log)
			if ran, read := err == nil, strings.HasSuffix(name, ".gitignore") || strings.HasSuffix(name, ".rgignore"); ran == read {
				t.Errorf("%s as %s: rg ran: %v", kind, name, ran)
			}
			names, err := f.All(t.Context(), 99)
			if err != nil || len(names.Names) < 5 {
				t.Errorf("%s as %s: %q, %v", kind, name, names.Names, err)
			}
		}
	}
}

// Nobody reads an ignore file in an ignored folder.
func TestIrregularIgnoreFileThatIsIgnored(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{".gitignore": "out/\n", "a": "needle\n", "out/x": "needle\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, "out/.gitignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := folder(dir, dir)
	names, used := f.ripgrep(t.Context(), Query{Regex: "needle", Ripgrep: ripgrepPath(t)})
	if diff := cmp.Diff([]string{"a"}, names); !used || diff != "" {
		t.Errorf("rg was used: %v\n%s", used, diff)
	}
}
