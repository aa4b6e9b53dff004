package workspace

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/bb2d0cf4/agent/internal/subpath"
)

// windowsPath returns a path of Windows, relative to dir or absolute, as an absolute one with
// backslashes, a drive in capitals and its dots still in it. A path that Windows reads in more than
// one way is an error: one relative to the current folder of some drive, and a part with a
// stream, a device, or an end that Windows cuts off.
func windowsPath(path, dir string) (string, error) {
	full := strings.ReplaceAll(path, "/", `\`)
	root := rootLen(dir)
	switch at := rootLen(full); {
	case at > 0:
		root = at
	case strings.HasPrefix(full, `\`):
		full = strings.TrimRight(dir[:root], `\`) + `\` + strings.TrimLeft(full, `\`)
	case subpath.HasDrive(full):
		return "", fmt.Errorf("%s names a file in the current folder of drive %s, which is not known here: write the path in full, as in %s\\name", path, full[:2], full[:2])
	default:
		full = strings.TrimRight(dir, `\`) + `\` + full
	}
	for part := range strings.SplitSeq(full[root:], `\`) {
		if why := unnamable(part); why != "" {
			return "", fmt.Errorf("%s is not used: in it, %q %s", path, part, why)
		}
	}
	if subpath.HasDrive(full) {
		full = strings.ToUpper(full[:1]) + full[1:]
	}
	return full, nil
}

// rootLen returns the length of the root of an absolute path of Windows with backslashes, such as C:\ or
// \\host\share\; zero for another path.
func rootLen(path string) int {
	if rest, ok := strings.CutPrefix(path, `\\`); ok {
		host, rest, _ := strings.Cut(rest, `\`)
		share, _, _ := strings.Cut(rest, `\`)
		return min(len(path), len(`\\`)+len(host)+1+len(share)+1)
	}
	if subpath.HasDrive(path) && len(path) > 2 && path[2] == '\\' {
		return 3
	}
	return 0
}

// unnamable explains why Windows takes a part of a path for something else than a file of that name;
// "" if it does not.
func unnamable(part string) string {
	stem, _, _ := strings.Cut(part, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch {
	case part == "" || part == "." || part == "..":
		return ""
	case strings.Contains(part, ":"):
		return "names a stream of a file"
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return "has an end that Windows cuts off"
	case strings.ContainsAny(part, `<>"|?*`) || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' }):
		return "has a character that no name of a file has"
	case slices.Contains(devices, stem), isPort(stem):
		return "names a device"
	}
	return ""
}

var devices = []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}

// isPort reports whether a name in capitals is COM0 to LPT9, also with a raised digit.
func isPort(stem string) bool {
	digit, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		digit, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && slices.Contains([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, digit)
}

// nameOnDisk returns the name that a file has in its folder, which has these names, if the file was found
// as part: a file system may ignore case and how accents are written. same reports whether an entry is
// that file; ok is false if none is.
func nameOnDisk(names []string, part string, same func(name string) bool) (name string, ok bool) {
	if slices.Contains(names, part) {
		return part, true
	}
	// A file can have two names in a folder: the one that reads like part is meant.
	for _, alike := range []bool{true, false} {
		for _, name := range names {
			if strings.EqualFold(norm.NFC.String(name), norm.NFC.String(part)) == alike && same(name) {
				return name, true
			}
		}
	}
	return "", false
}

// respelled reports whether the file at a path has its name in another case: the file system takes both
// names for one, and the file has the other path.
func respelled(path string) (bool, error) {
	at, err := asOnDisk(path)
	switch {
	case missing(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return twins(at, path), nil
}

// asSpelled returns the error of a look at a path. A file with another spelling of the name is missing.
func asSpelled(path string, err error) error {
	if err != nil {
		return err
	}
	other, err := respelled(path)
	if other {
		return fs.ErrNotExist
	}
	return err
}

// twins reports whether two paths differ in the case of the last name alone.
func twins(a, b string) bool { return a != b && foldName(a) == foldName(b) }

// foldName returns a form of a path that it shares with its twins.
func foldName(path string) string {
	dir, name := filepath.Split(path)
	return dir + strings.ToLower(norm.NFC.String(name))
}
