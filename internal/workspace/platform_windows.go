package workspace

import (
	"fmt"
	"io/fs"
	"os"
)

// Unlike Unix, no pipe or symlink can lurk in a folder.
const (
	noWait   = 0
	noFollow = 0
)

func notDir(error) bool { return false }

// writable returns why the file at abs must not be written; info is nil if it is missing.
func writable(_ string, info fs.FileInfo) error {
	if info != nil && info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("it is read-only: make it writable first if it is meant to be edited: %w", fs.ErrPermission)
	}
	return nil
}

// names returns the number of names of a file: one, as far as is known.
func names(fs.FileInfo) int { return 1 }

// copyOwner does nothing: a new file inherits its folder's owner and rights.
func copyOwner(*os.File, fs.FileInfo) error { return nil }

// copyAttributes does nothing, like copyOwner.
func copyAttributes(_, _ *os.File) error { return nil }

// readDir lists an open folder.
func readDir(dir *os.File, _ string) ([]fs.DirEntry, error) { return dir.ReadDir(-1) }

// syncDir does nothing: Windows cannot sync a folder, and journals its names.
func syncDir(*os.Root) error { return nil }
