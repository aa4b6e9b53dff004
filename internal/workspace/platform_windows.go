package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// There are no such flags. No pipe has a name in a folder; a link that replaces a file between the look
// at it and its opening is followed.
const (
	noWait   = 0
	noFollow = 0
)

func notDir(error) bool { return false }

// isLink reports whether a path leads through what info describes to another: as a symbolic
// link, or as a junction, which is an irregular folder.
func isLink(info fs.FileInfo) bool { return info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// asOnDisk returns path with the last part as it is called on the disk: in the case that it was made in,
// and not with its short name.
func asOnDisk(path string) (string, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	var found windows.Win32finddata
	h, err := windows.FindFirstFile(name, &found)
	if err != nil {
		return "", &fs.PathError{Op: "find", Path: path, Err: err}
	}
	return filepath.Join(filepath.Dir(path), windows.UTF16ToString(found.FileName[:])), windows.FindClose(h)
}

// writable returns why the file at abs must not be written; info is nil if it is missing.
func writable(abs string, info fs.FileInfo) error {
	if info == nil {
		return nil
	}
	if info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("it is read-only: make it writable first if it is meant to be edited: %w", fs.ErrPermission)
	}
	f, err := os.Open(abs)
	if err != nil {
		return err
	}
	defer f.Close()
	var about windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &about); err != nil {
		return err
	}
	return manyNames(int(about.NumberOfLinks))
}

// names returns one: how many names a file has, only its handle tells (see writable).
func names(fs.FileInfo) int { return 1 }

// copyOwner does nothing: a new file inherits its folder's owner and rights. Rights that the old file
// had of its own are lost.
func copyOwner(*os.File, fs.FileInfo) error { return nil }

// copyAttributes does nothing: the marks hidden and system, and the streams of the old file are lost.
func copyAttributes(_, _ *os.File) error { return nil }

// readDir lists an open folder.
func readDir(dir *os.File, _ string) ([]fs.DirEntry, error) { return dir.ReadDir(-1) }

// syncDir does nothing: Windows cannot sync a folder, and journals its names.
func syncDir(*os.Root) error { return nil }
