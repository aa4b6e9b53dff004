package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxLinks is the number of symlinks that a path may lead through.
const maxLinks = 40

// Resolve follows path, relative to Dir or absolute, through all symlinks. The last
// components may be missing. name is relative to Dir with forward slashes, or the
// absolute path of a file in another folder. For a path outside every folder the error is
// ErrOutside, with abs and name set.
func (r *Root) Resolve(path string) (abs, name string, err error) {
	p, err := r.files.resolve(path)
	if err != nil {
		return "", "", err
	}
	if p.folder == nil {
		err = fmt.Errorf("%s is %w", p.name, ErrOutside)
	}
	return p.abs, p.name, err
}

// place is a resolved path.
type place struct {
	abs    string
	name   string
	folder *folder     // nil if outside
	rel    string      // relative to folder
	info   fs.FileInfo // nil if nothing exists there
}

// resolve is Resolve without an error for paths outside.
func (f *files) resolve(path string) (place, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return place{}, fmt.Errorf("%q is not a path", path)
	}
	if runtime.GOOS == "windows" && f.isRemote(path) {
		return place{}, fmt.Errorf("%s names another machine or a device, and is not opened: that would send your password's hash there", path)
	}
	path, err := absolute(path, f.folders[0].path)
	if err != nil {
		return place{}, err
	}
	abs, info, err := follow(path, f.isRemote)
	if err != nil {
		return place{}, err
	}
	p := place{abs: abs, info: info}
	for i := range f.folders {
		in := &f.folders[i]
		// Of nested folders, the innermost counts.
		if rel, ok := below(in.path, abs); ok && (p.folder == nil || len(in.path) > len(p.folder.path)) {
			p.folder, p.rel = in, rel
		}
	}
	p.name = f.named(abs)
	return p, nil
}

// absolute returns path, relative to dir or absolute, as an absolute one.
func absolute(path, dir string) (string, error) {
	if runtime.GOOS == "windows" {
		return windowsPath(path, dir)
	}
	if !filepath.IsAbs(path) {
		path = dir + string(filepath.Separator) + path
	}
	return path, nil
}

// isRemote reports whether Windows may ask another machine, or a device, about path, which
// is in no folder of the workspace.
func (f *files) isRemote(path string) bool {
	path = strings.ReplaceAll(path, `\`, "/")
	if !strings.HasPrefix(path, "//") {
		return false
	}
	for _, in := range f.folders {
		dir := strings.ReplaceAll(in.path, `\`, "/")
		if n := len(dir); len(path) >= n && strings.EqualFold(path[:n], dir) && (len(path) == n || path[n] == '/') && !strings.Contains(path+"/", "/../") {
			return false
		}
	}
	return true
}

// named returns the name of a file: relative to the main folder, or its absolute path.
func (f *files) named(abs string) string {
	if rel, ok := below(f.folders[0].path, abs); ok {
		abs = rel
	}
	return filepath.ToSlash(abs)
}

// below returns abs relative to dir; ok is false unless abs is dir or inside.
func below(dir, abs string) (string, bool) {
	if abs == dir {
		return ".", true
	}
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	return strings.CutPrefix(abs, dir)
}

// follow resolves the symlinks of an absolute path, component by component, and on Windows takes the
// name that each has on the disk: so one file has one path, whatever its spelling. It only
// decides which file is meant; the handle of the folder ensures that the file opened
// later is inside. The info is nil if the path's end is missing. On Windows, a link to where
// remote returns true is an error.
func follow(path string, remote func(path string) bool) (string, fs.FileInfo, error) {
	rest := parts(path)
	at := filepath.VolumeName(path) + string(filepath.Separator)
	info, err := os.Lstat(at)
	if err != nil {
		return "", nil, err
	}
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == "." {
			continue
		}
		if part == ".." {
			at = filepath.Dir(at)
			if info, err = os.Lstat(at); err != nil {
				return "", nil, err
			}
			continue
		}
		next := filepath.Join(at, part)
		info, err = os.Lstat(next)
		switch {
		case missing(err):
			return filepath.Join(append([]string{next}, rest...)...), nil, nil
		case err != nil:
			return "", nil, err
		case !isLink(info):
			if at, err = asOnDisk(next); err != nil {
				return "", nil, err
			}
			continue
		}
		if links++; links > maxLinks {
			return "", nil, fmt.Errorf("%s: more than %d symlinks", path, maxLinks)
		}
		target, err := targetOf(next, remote)
		if err != nil {
			return "", nil, err
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
		}
		rest = append(parts(target), rest...)
	}
	return at, info, nil
}

// targetOf returns where a link leads; on Windows as windowsPath does, and not to where remote returns true.
func targetOf(link string, remote func(path string) bool) (string, error) {
	target, err := os.Readlink(link)
	switch {
	case err != nil, runtime.GOOS != "windows":
		return target, err
	case remote(target):
		return "", fmt.Errorf("%s is a link to another machine or a device: %s", link, target)
	}
	return windowsPath(target, filepath.Dir(link))
}

// parts splits a path into its components.
func parts(path string) []string {
	path = path[len(filepath.VolumeName(path)):]
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// missing reports whether err means that nothing is at a path: no file, or a file where
// the path needs a folder.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || notDir(err) }
