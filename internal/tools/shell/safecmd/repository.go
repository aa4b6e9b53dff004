package safecmd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/programs"
)

// maxIndex is the size in bytes up to which the index of a repository is read.
const maxIndex = 32 << 20

// repository returns why comparing the files of the repository of p needs a question, or "":
// its settings can make git run a program, or look at files elsewhere, or a tracked file holds
// keys.
func (p Place) repository(r programs.Reads) string {
	top, why := p.top()
	if why != "" {
		return why
	}
	dir := filepath.Join(top, ".git")
	for _, name := range []string{filepath.Join(top, ".gitmodules"), filepath.Join(dir, "modules"), filepath.Join(dir, "commondir"), filepath.Join(dir, "config.worktree")} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return "git also reads the settings of " + filepath.Base(name) + ", which are not judged"
		}
	}
	for _, name := range gitSettings(dir) {
		if why := judgeSettings(name); why != "" {
			return why
		}
	}
	for _, name := range r.Files {
		if !within(top, p.abs(name)) {
			return name + " is outside of the repository"
		}
	}
	if !r.Tracked {
		return ""
	}
	for _, name := range r.Files {
		if _, err := os.Lstat(p.abs(name)); err != nil {
			return name + " may be another version of the files"
		}
	}
	return tracksKeys(filepath.Join(dir, "index"))
}

// top returns the folder of the repository around p.Dir.
func (p Place) top() (dir, why string) {
	for dir = p.Dir; slices.ContainsFunc(p.Roots, func(root string) bool { return within(root, dir) }); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err == nil {
			return "", "a folder on the way to the repository may be one itself"
		}
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil || !info.IsDir():
			return "", "the settings of git are in another folder"
		}
		return dir, ""
	}
	return "", "the folder is not the one of a repository"
}

// gitSettings returns the files in which git looks for settings.
func gitSettings(dir string) []string {
	files := []string{
		filepath.Join(dir, "config"), "/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig", "/usr/etc/gitconfig",
		"/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig", "/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
	}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"))
	}
	if xdg := os.Getenv("XDG_CONFIG_HOME"); xdg != "" {
		files = append(files, filepath.Join(xdg, "git/config"))
	}
	return files
}

// judgeSettings returns why a file of git's settings needs a question, or "": it has a filter, or
// may include one, or names another folder for the files. Texts are searched for: a
// parser that knows less than git's could miss something.
func judgeSettings(name string) string {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return name + " cannot be read, so what git runs is unknown"
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return name + " cannot be read, so what git runs is unknown"
	}
	text := strings.ToLower(string(data))
	for _, word := range []string{"filter", "include", "worktree", "promisor", "partialclone", "objectformat"} {
		if strings.Contains(text, word) {
			return name + " can make git run a program, by " + word
		}
	}
	return ""
}

// readIndex reads an index of git, if it is a file of at most maxIndex bytes.
func readIndex(index string) ([]byte, error) {
	info, err := os.Stat(index)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxIndex {
		return nil, errors.New("no index of git")
	}
	return os.ReadFile(index)
}

// tracksKeys returns why showing the files in an index of git needs a question, or "".
func tracksKeys(index string) string {
	const unknown = "the names of the tracked files are not known"
	const header, fixed = 12, 62 // bytes before the entries, and before the name in each
	data, err := readIndex(index)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil || len(data) < header || !bytes.HasPrefix(data, []byte("DIRC")):
		return unknown
	}
	version, n, rest := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:]), data[header:]
	if version != 2 || bytes.Contains(data, []byte("link\x00")) || bytes.Contains(data, []byte("sdir\x00")) { // others shorten names, or keep some elsewhere
		return unknown
	}
	for range n {
		end := -1
		if len(rest) > fixed {
			end = bytes.IndexByte(rest[fixed:], 0)
		}
		if end < 0 {
			return unknown
		}
		name := string(rest[fixed : fixed+end])
		if permission.Secret(name) || strings.HasSuffix(strings.ToLower(name), ".pem") {
			return name + ", which is tracked, is a place that usually holds keys"
		}
		size := (fixed + end + 8) &^ 7 // entries end with 1 to 8 zero bytes
		rest = rest[min(size, len(rest)):]
	}
	return ""
}
