package permission

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/regular"
)

// Bounds of what is looked at for one command.
const (
	maxHashed   = 4 << 20  // bytes of a file whose text counts; of a larger one its size and time do
	maxBytes    = 32 << 20 // of all files
	maxFiles    = 400
	maxFollowed = 256 << 10 // bytes of a file that is searched for names of scripts
	maxParents  = 32
)

// errUntold is returned for a command that runs what cannot be told from its line.
var errUntold = errors.New("what it runs cannot be told in advance")

// runs is what a command line runs, as far as can be told: its folder, the programs
// that its words name, the scripts, and the files that known programs take commands
// from. Two of them differ if the line may do something else than before.
type runs struct {
	dir   *os.File // held open: no other folder can have its identity; nil: there is none
	at    string   // where dir is
	files map[string]string
	order []string           // of files: those that the line names come before what they name
	found map[string]program // by the word
}

type program struct {
	path string // empty: there is none
	info fs.FileInfo
}

// look finds out what line runs in dir.
func look(line, dir string) (*runs, error) {
	words := wordsOf(line)
	for _, w := range words {
		if slices.Contains(indirect, w) {
			return nil, fmt.Errorf("%w: %s", errUntold, w)
		}
	}
	held, err := os.Open(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", errUntold, err)
	}
	r := &runs{dir: held, at: dir, files: map[string]string{}, found: map[string]program{}}
	l := looker{runs: r, left: maxBytes}
	dirs := []string{dir}
	for _, w := range words {
		if path := inDir(dir, w); isDir(path) && !slices.Contains(dirs, path) {
			dirs = append(dirs, path)
		}
	}
	for _, w := range words {
		r.found[w] = find(w, dir)
		for _, d := range dirs {
			l.named(w, d)
			l.manifests(w, d)
		}
	}
	if l.err != nil {
		r.close()
		return nil, l.err
	}
	return r, nil
}

func (r *runs) close() {
	if r.dir != nil {
		_ = r.dir.Close() // it was only held
	}
}

// indirect are the words after which other words, or what a program prints, are run.
var indirect = []string{"eval", "xargs", "parallel", "-exec", "-execdir", "-ok", "-okdir"}

// wordsOf takes a line apart, roughly: too many words do no harm.
func wordsOf(line string) []string {
	seen := map[string]bool{}
	var out []string
	cut := func(s, at string) {
		for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(at, r) }) {
			if w = strings.Trim(w, "\"'\\"); w != "" && !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	const blanks = " \t\r\n;|&()<>`"
	for _, s := range []string{line, os.Expand(line, os.Getenv)} {
		cut(s, blanks)
		cut(s, blanks+"{}=,:$\"'")
	}
	return out
}

func inDir(dir, name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// find returns the program that a word names in dir.
func find(word, dir string) program {
	if strings.ContainsRune(word, '/') || strings.ContainsRune(word, filepath.Separator) {
		return program{}
	}
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		for _, end := range endings() {
			path := filepath.Join(inDir(dir, d), word+end)
			if info, err := os.Stat(path); err == nil && runnable(info) {
				return program{path, info}
			}
		}
	}
	return program{}
}

// endings are those that a program's name may have in PATH and not in a line.
func endings() []string {
	if runtime.GOOS == "windows" {
		return []string{"", ".com", ".exe", ".bat", ".cmd", ".ps1"}
	}
	return []string{""}
}

// runnable reports whether a file can be a program; Windows does not say.
func runnable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// looker collects the files of a command.
type looker struct {
	*runs
	left int64 // bytes that may still be read
	err  error
}

// named adds the files that a word names in dir.
func (l *looker) named(word, dir string) {
	if !strings.ContainsAny(word, "*?[") {
		l.script(inDir(dir, word), dir)
		return
	}
	if filepath.IsAbs(word) || strings.HasPrefix(word, "~") {
		return
	}
	for _, name := range glob(dir, word) {
		l.script(filepath.Join(dir, name), dir)
	}
}

func glob(dir, pattern string) []string {
	names, err := fs.Glob(os.DirFS(dir), path.Clean(filepath.ToSlash(pattern)))
	if err != nil {
		return nil
	}
	return names
}

// manifests adds the files from which the program called word takes commands, in dir
// and above it.
func (l *looker) manifests(word, dir string) {
	patterns := reads[strings.TrimSuffix(filepath.Base(word), ".exe")]
	for range maxParents {
		for _, p := range patterns {
			for _, name := range glob(dir, p) {
				l.script(filepath.Join(dir, name), dir)
			}
		}
		up := filepath.Dir(dir)
		if up == dir || len(patterns) == 0 {
			return
		}
		dir = up
	}
}

// script adds a file, and the scripts that it names.
func (l *looker) script(path, dir string) {
	text := l.file(path)
	if len(text) > maxFollowed {
		return
	}
	for _, w := range wordsOf(text) {
		name := inDir(dir, w)
		if strings.ContainsRune(w, '/') && executable(name) || slices.Contains(scripts, filepath.Ext(w)) {
			l.file(name)
		}
	}
}

// scripts are the endings of files that are run by their name.
var scripts = []string{".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".lua", ".ps1", ".bat", ".cmd", ".mk"}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runnable(info)
}

// file adds a regular file, and returns its text unless it is large or known.
func (l *looker) file(path string) string {
	if _, known := l.files[path]; known || l.err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	l.order = append(l.order, path)
	switch l.left -= min(info.Size(), maxHashed); {
	case len(l.files) >= maxFiles || l.left < 0:
		l.err = fmt.Errorf("%w: it names too many files", errUntold)
		return ""
	case info.Size() > maxHashed:
		l.files[path] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		return ""
	}
	data, err := regular.ReadFile(path, maxHashed)
	if err != nil {
		l.err = fmt.Errorf("%w: %w", errUntold, err)
		return ""
	}
	sum := sha256.Sum256(data)
	l.files[path] = hex.EncodeToString(sum[:])
	return string(data)
}

// since says how now differs from r, for people; it is empty if it does not.
func (r *runs) since(now *runs) string {
	if !sameFolder(r.dir, now.dir) {
		return "its folder is another one now"
	}
	for w, was := range r.found { // the line is the same, and so are its words
		is := now.found[w]
		switch {
		case was.path == "" && is.path == "":
		case is.path == "":
			return was.path + " is gone"
		case was.path != is.path:
			return w + " is " + is.path + " now"
		case !os.SameFile(was.info, is.info) || was.info.Size() != is.info.Size() || !was.info.ModTime().Equal(is.info.ModTime()):
			return is.path + " has changed"
		}
	}
	for _, path := range slices.Concat(r.order, now.order) {
		was, is := r.files[path], now.files[path]
		switch name := r.short(path); {
		case was == is:
		case was == "":
			return name + " is new"
		case is == "":
			return name + " is gone"
		default:
			return name + " has changed"
		}
	}
	return ""
}

func sameFolder(a, b *os.File) bool {
	if a == nil || b == nil {
		return a == b
	}
	was, errA := a.Stat()
	is, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(was, is)
}

// short names a file relative to the command's folder, if it is in it.
func (r *runs) short(path string) string {
	if rel, err := filepath.Rel(r.at, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
