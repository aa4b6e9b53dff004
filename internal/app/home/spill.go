package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// SpillAge is how long outputs are kept. A continued session may still refer to them.
const SpillAge = 14 * 24 * time.Hour

// SpillDir returns the folder for the long outputs of a session's commands.
func SpillDir(home, session string) string { return filepath.Join(home, "spill", session) }

// PruneSpill deletes outputs last written before the given time, and folders left
// empty.
func PruneSpill(home string, before time.Time) error {
	dir := filepath.Join(home, "spill")
	sessions, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, s := range sessions {
		err = errors.Join(err, RemoveSpill(filepath.Join(dir, s.Name()), before))
	}
	return err
}

// RemoveSpill deletes the outputs in dir that were last written before the given time,
// and dir if it is left empty.
func RemoveSpill(dir string, before time.Time) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	left := 0
	for _, f := range files {
		info, infoErr := f.Info()
		if infoErr != nil || !info.ModTime().Before(before) {
			left++
			continue
		}
		err = errors.Join(err, statefile.Remove(filepath.Join(dir, f.Name())))
	}
	if left > 0 || err != nil {
		return err
	}
	return statefile.Remove(dir)
}
