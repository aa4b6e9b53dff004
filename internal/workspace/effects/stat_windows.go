package effects

import (
	"io/fs"
	"os"
	"path/filepath"
)

const noFollow = 0

// dir is a folder.
type dir struct{ path string }

func openDir(path string) (dir, error) { return dir{path}, nil }

func (d dir) open(name string) (dir, error) { return dir{filepath.Join(d.path, name)}, nil }

func (d dir) names() ([]string, error) {
	f, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d dir) stat(name string) (stat, error) {
	info, err := os.Lstat(filepath.Join(d.path, name))
	if err != nil {
		return stat{}, err
	}
	return plain(info), nil
}

func (d dir) self() (stat, error) { return stat{}, nil }

func (d dir) close() error { return nil }

func statOf(f *os.File) (stat, error) {
	info, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return plain(info), nil
}

func plain(info fs.FileInfo) stat {
	mode := info.Mode() & (fs.ModePerm | fs.ModeDir | fs.ModeSymlink | fs.ModeIrregular)
	return stat{mode: mode, size: info.Size(), mtime: info.ModTime().UnixNano()}
}
