package home

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

func TestPruneSpill(t *testing.T) {
	home, now := t.TempDir(), time.Now()
	if err := PruneSpill(home, now); err != nil {
		t.Fatal(err)
	}
	put := func(session, name string, age time.Duration) string {
		file := filepath.Join(SpillDir(home, session), name)
		if err := statefile.Write(file, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	old := put("old", "1", 2*SpillAge)
	mixedOld, mixedNew := put("mixed", "1", 2*SpillAge), put("mixed", "2", time.Hour)
	if err := PruneSpill(home, now.Add(-SpillAge)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{filepath.Dir(old): false, mixedOld: false, mixedNew: true} {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) == want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
