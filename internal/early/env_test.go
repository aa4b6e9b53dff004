package early

import (
	"go/build"
	"os"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRestoreEnv(t *testing.T) {
	t.Setenv("TMUX", "/tmp/tmux-0/default,1,0")
	t.Setenv("TERM", "")
	before := os.Environ()
	hidden = hide("TERM", "TMUX", "NO_SUCH_VARIABLE")
	for _, name := range []string{"TERM", "TMUX"} {
		if v, ok := os.LookupEnv(name); ok {
			t.Errorf("%s is %q", name, v)
		}
	}
	if err := RestoreEnv(); err != nil {
		t.Error(err)
	}
	after := os.Environ()
	slices.Sort(before)
	slices.Sort(after)
	if d := cmp.Diff(before, after); d != "" {
		t.Error(d)
	}
}

type marker struct{}

// More imports would let other packages initialize first.
func TestImports(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"bytes", "errors", "fmt", "github.com/bb2d0cf4/agent/internal/crash", "io", "os", "os/signal", "strconv", "strings", "syscall", "time", "unsafe"}
	if d := cmp.Diff(allowed, p.Imports); d != "" && runtime.GOOS == "linux" {
		t.Error(d)
	}
	if path, before := reflect.TypeFor[marker]().PkgPath(), "github.com/charmbracelet/colorprofile"; path > before {
		t.Errorf("%s initializes after %s", path, before)
	}
}
