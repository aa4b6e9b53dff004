package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

func TestWorkDir(t *testing.T) {
	dir := scratch.Dir(t, nil)
	link := filepath.Join(dir, "link")
	scratch.Symlink(t, dir, link)
	if got, err := setup.Folder(link); err != nil || got != dir {
		t.Errorf("%q, %v", got, err)
	}
	file := filepath.Join(dir, "file")
	scratch.Write(t, file, "")
	for _, wrong := range []string{file, filepath.Join(dir, "missing")} {
		var usage usageError
		if _, err := setup.Folder(wrong); !errors.As(err, &usage) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// A server on this machine may give its models hostile names.
func TestTheNoteOnTheModelIsSafe(t *testing.T) {
	p, _ := files(t)
	remark(p, "using x\x1b]0;owned\a\ny")
	got, err := os.ReadFile(p.Stderr.Name())
	if err != nil || bytes.ContainsAny(got, "\x1b\a") || bytes.Count(got, []byte("\n")) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}
