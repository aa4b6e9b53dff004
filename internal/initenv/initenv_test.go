package initenv

import (
	"go/build"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRestore(t *testing.T) {
	t.Setenv(name, "/tmp/tmux-0/default,1,0")
	hidden, found = hide()
	if v, ok := os.LookupEnv(name); ok {
		t.Errorf("TMUX is %q", v)
	}
	if err := Restore(); err != nil || os.Getenv(name) != "/tmp/tmux-0/default,1,0" {
		t.Errorf("TMUX is %q, %v", os.Getenv(name), err)
	}
}

type marker struct{}

// More imports would let the initialisers of other packages come first.
func TestImports(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"fmt", "os"}, p.Imports); d != "" {
		t.Error(d)
	}
	if path, before := reflect.TypeFor[marker]().PkgPath(), "github.com/charmbracelet/colorprofile"; path > before {
		t.Errorf("%s initialises after %s", path, before)
	}
}
