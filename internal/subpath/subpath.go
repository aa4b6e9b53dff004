// Package subpath tells which paths are in a folder, by their text: links are not followed.
package subpath

import "path/filepath"

// Of returns path relative to dir, with forward slashes, if it is dir or below it; ok is false
// for other paths. Both are absolute or relative to the same folder.
func Of(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	if path == "" || err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// In reports whether path is dir or below it.
func In(dir, path string) bool {
	_, ok := Of(dir, path)
	return ok
}

// HasDrive reports whether path begins as one of Windows with a drive, on any system.
func HasDrive(path string) bool {
	return len(path) >= 2 && path[1] == ':' && path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z'
}
