package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/golden"
)

// recorder keeps the errors of a comparison instead of failing the test.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", "a.golden"), []byte("␛[1mone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := &recorder{TB: t}
	golden.Lines(r, "a", []string{"\x1b[1mone"})
	if r.errors != nil {
		t.Error(r.errors)
	}
	golden.File(r, "a", "two\n")
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "-update") {
		t.Errorf("%q", r.errors)
	}
}

func TestSection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte("by hand\n<begin>\none\n<end>\nby hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := &recorder{TB: t}
	golden.Section(r, file, "<begin>", "<end>", "one\n")
	if r.errors != nil {
		t.Error(r.errors)
	}
	golden.Section(r, file, "<begin>", "<end>", "two\n")
	if len(r.errors) != 1 {
		t.Errorf("%q", r.errors)
	}
}
