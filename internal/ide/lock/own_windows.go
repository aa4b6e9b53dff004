package lock

import (
	"io/fs"
	"os"
)

// checkDir explains why the locks in a folder cannot be trusted, or returns "". The
// folders are in the user's profile, which others cannot write; if they are elsewhere, that is not checked.
func checkDir(dir string, _ bool) string {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return "the folder cannot be read"
	case !info.IsDir():
		return "it is not a folder"
	}
	return ""
}

// readOwn reads a file that is no link. why explains why it cannot be trusted or read.
func readOwn(path string, _ bool) (data []byte, info fs.FileInfo, why string) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, nil, "the lock file is gone"
	}
	if !named.Mode().IsRegular() {
		return nil, nil, "the lock file is a link or no regular file"
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, "the lock file cannot be opened"
	}
	defer f.Close()
	info, err = f.Stat()
	if err != nil || !os.SameFile(named, info) {
		return nil, nil, "the lock file cannot be read"
	}
	data, why = readBounded(f, info)
	return data, info, why
}

// othersRead reports false: the mode says nothing about rights there, and the folder is in the profile.
func othersRead(fs.FileInfo) bool { return false }
