package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// canary is the API key of every session here; it must appear only in the requests to
// the model.
const canary = "sk-canary-7f3d"

// maxCanaryFile is the size of the largest file that is searched for the key.
const maxCanaryFile = 16 << 20

// leaks returns the regular files below the folders that hold the key.
func leaks(t *testing.T, dirs ...string) (found []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return passed(err)
			}
			info, err := e.Info()
			if err != nil || info.Size() > maxCanaryFile {
				return passed(err)
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte(canary)) {
				found = append(found, path)
			}
			return passed(err)
		})
		if err != nil {
			t.Error(err)
		}
	}
	return found
}

// passed returns err unless the test has removed or closed the file.
func passed(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
