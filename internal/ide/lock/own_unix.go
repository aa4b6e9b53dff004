//go:build unix

package lock

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkDir explains why the locks in a folder cannot be trusted, or returns "". A
// folder of Windows has no owner and mode of its own.
func checkDir(dir string, windows bool) string {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return "the folder cannot be read"
	case !info.IsDir():
		return "it is not a folder"
	case windows:
		return ""
	case !own(info):
		return "the folder belongs to another user"
	case info.Mode().Perm()&0o022 != 0:
		return "other users can write into the folder"
	}
	return ""
}

// readOwn reads a file without following a link or waiting for a pipe. why explains why
// it cannot be trusted or read.
func readOwn(path string, windows bool) (data []byte, info fs.FileInfo, why string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, nil, "the lock file is a symbolic link"
	case errors.Is(err, unix.ENOENT):
		return nil, nil, "the lock file is gone"
	case err != nil:
		return nil, nil, "the lock file cannot be opened"
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	info, err = f.Stat()
	switch {
	case err != nil:
		return nil, nil, "the lock file cannot be read"
	case windows:
	case !own(info):
		return nil, nil, "the lock file belongs to another user"
	case info.Mode().Perm()&0o022 != 0:
		return nil, nil, "other users can write the lock file"
	}
	data, why = readBounded(f, info)
	return data, info, why
}

func own(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// othersRead reports whether other users can read a file.
func othersRead(info fs.FileInfo) bool { return info.Mode().Perm()&0o044 != 0 }
