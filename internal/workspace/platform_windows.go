package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

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
	about, err := aboutFile(f)
	if err != nil {
		return err
	}
	if about.FileAttributes&windows.FILE_ATTRIBUTE_ENCRYPTED != 0 {
		folder, err := os.Stat(filepath.Dir(abs))
		if err != nil {
			return err
		}
		if in, ok := folder.Sys().(*syscall.Win32FileAttributeData); ok && in.FileAttributes&windows.FILE_ATTRIBUTE_ENCRYPTED == 0 {
			return errors.New("Windows has encrypted it, and not its folder, so a file that replaces it would not be encrypted: edit it with a command, or encrypt the folder")
		}
	}
	return manyNames(int(about.NumberOfLinks))
}

func aboutFile(f *os.File) (about windows.ByHandleFileInformation, err error) {
	if err = windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &about); err != nil {
		err = &fs.PathError{Op: "look at", Path: f.Name(), Err: err}
	}
	return about, err
}

// names returns the number of names of an open file.
func names(f *os.File, _ fs.FileInfo) (int, error) {
	about, err := aboutFile(f)
	return int(about.NumberOfLinks), err
}

// namesAt returns the number of names of the file called name, which only an open file tells.
func namesAt(in *os.Root, name string, info fs.FileInfo) (int, error) {
	f, err := in.OpenFile(name, os.O_RDONLY|noWait|noFollow, 0)
	if err != nil {
		return 0, err
	}
	n, err := names(f, info)
	return n, errors.Join(err, f.Close())
}

// copyOwner does nothing: the new file belongs to who writes it. To give it to somebody else needs
// a privilege, and to have owned the old one no right to its content.
func copyOwner(*os.File, fs.FileInfo) error { return nil }

// readDir lists an open folder.
func readDir(dir *os.File, _ string) ([]fs.DirEntry, error) { return dir.ReadDir(-1) }

// syncDir does nothing: Windows cannot sync a folder, and journals its names.
func syncDir(*os.Root) error { return nil }

// syncMode does nothing: Windows syncs no file that is open only for reading, and journals its attributes.
func syncMode(*os.File) error { return nil }
