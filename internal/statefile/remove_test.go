package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTruncateAndRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := errors.Join(Write(path, []byte("whole and torn")), Truncate(path, 5)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "whole" {
		t.Errorf("%q, %v", got, err)
	}
	if err := errors.Join(Remove(path), Remove(path)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if err := Truncate(path, 0); err == nil {
		t.Error("a missing file was cut")
	}
}
