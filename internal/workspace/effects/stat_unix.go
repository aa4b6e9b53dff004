//go:build unix

package effects

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noFollow keeps opening from following a link or waiting for the other end of a pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// dir is an open folder.
type dir struct{ fd int }

const openFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func openDir(path string) (dir, error) { return dir{unix.AT_FDCWD}.open(path) }

// open opens a folder in d.
func (d dir) open(name string) (dir, error) {
	for {
		fd, err := unix.Openat(d.fd, name, openFlags, 0)
		if err == unix.EINTR {
			continue
		}
		return dir{fd}, err
	}
}

func (d dir) names() ([]string, error) {
	var names []string
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.ReadDirent(d.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// stat returns the state of a name in d.
func (d dir) stat(name string) (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stat{}, err
	}
	return plain(&st), nil
}

// self returns the state of d.
func (d dir) self() (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return stat{}, err
	}
	return plain(&st), nil
}

// statOf returns the state of an open file.
func statOf(f *os.File) (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stat{}, err
	}
	return plain(&st), nil
}

func plain(st *unix.Stat_t) stat {
	mode, dev := uint32(st.Mode), uint64(st.Dev) //nolint:unconvert // their types differ between systems
	return stat{mode: fileMode(mode), size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), dev: dev, ino: st.Ino}
}

// fileMode returns the mode in Go's form. All that is neither a file, a folder nor a link
// is irregular.
func fileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		mode |= fs.ModeDir
	case syscall.S_IFLNK:
		return fs.ModeSymlink
	default:
		mode |= fs.ModeIrregular
	}
	if m&syscall.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&syscall.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&syscall.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

func (d dir) close() error { return unix.Close(d.fd) }
