// Package footprint finds the things that a command line runs: the programs that its words name, the
// scripts, and the files from which known programs take commands. It guarantees that two
// footprints of a line that do not differ name the same programs and files, with the same
// contents.
package footprint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// Bounds of the search for what one command runs.
const (
	maxHashed   = 4 << 20  // bytes of a file that is hashed; a larger one is known by size and time
	maxBytes    = 32 << 20 // of all hashed files
	maxFiles    = 400
	maxFollowed = 256 << 10 // bytes of a file that is searched for names of scripts
	maxParents  = 32
	maxTried    = 20_000 // names of which it is checked whether they are files
)

// ErrUnpredictable is returned for a command line that does not reveal its footprint.
var ErrUnpredictable = errors.New("what it runs is not known in advance")

// Footprint lists the things that a command line runs, as far as it shows: its folder, the
// programs that its words name, the scripts, and the files from which known programs take
// commands. If two footprints of a line differ, it may do something else than before.
type Footprint struct {
	dir   *os.File           // held open, so that no other folder gets its identity; nil if missing
	path  string             // the path of dir
	files map[string]string  // hash by path
	order []string           // of files: those named by the line before those named by them
	found map[string]program // by word
}

type program struct {
	path string // empty if not found
	info fs.FileInfo
}

// Of returns what line runs in dir. The caller must close it.
func Of(line, dir string) (*Footprint, error) {
	words := wordsOf(line)
	for _, w := range words {
		if slices.Contains(indirect, w) {
			return nil, fmt.Errorf("%w: %s", ErrUnpredictable, w)
		}
	}
	held, err := os.Open(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrUnpredictable, err)
	}
	r := &Footprint{dir: held, path: dir, files: map[string]string{}, found: map[string]program{}}
	l := collector{Footprint: r, left: maxBytes, tried: map[string]bool{}}
	dirs := []string{dir}
	for _, w := range words {
		if path := inDir(dir, w); isDir(path) && !slices.Contains(dirs, path) {
			dirs = append(dirs, path)
		}
	}
	for _, w := range words {
		r.found[w] = find(w, dir)
		for _, d := range dirs {
			l.addNamed(w, d)
			l.addManifests(w, d)
		}
	}
	l.addStarted(line, words, dirs)
	if l.err != nil {
		r.Close()
		return nil, l.err
	}
	return r, nil
}

// Close lets go of the folder.
func (r *Footprint) Close() {
	if r.dir != nil {
		_ = r.dir.Close() // it was only held
	}
}

// indirect lists the words after which other words, or the output of a program, are run.
var indirect = []string{"eval", "xargs", "parallel", "-exec", "-execdir", "-ok", "-okdir"}

// wordsOf splits a line roughly into words: too many of them do no harm.
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

// find returns the program in PATH that a word names.
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

// endings returns the endings that a program may have in PATH and lack in a line.
func endings() []string {
	if runtime.GOOS == "windows" {
		return []string{"", ".com", ".exe", ".bat", ".cmd", ".ps1"}
	}
	return []string{""}
}

// runnable reports whether a file can be a program. Windows has no mode bit for that.
func runnable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// collector adds the files of a command to its footprint.
type collector struct {
	*Footprint
	left  int64           // bytes that may still be read
	tried map[string]bool // the paths looked at
	err   error
}

// addNamed adds the files that a word names in dir.
func (l *collector) addNamed(word, dir string) {
	if !strings.ContainsAny(word, "*?[") {
		l.addScript(inDir(dir, word), dir)
		return
	}
	if filepath.IsAbs(word) || strings.HasPrefix(word, "~") {
		return
	}
	for _, name := range globIn(dir, word) {
		l.addScript(filepath.Join(dir, name), dir)
	}
}

func globIn(dir, pattern string) []string {
	names, err := fs.Glob(os.DirFS(dir), path.Clean(filepath.ToSlash(pattern)))
	if err != nil {
		return nil
	}
	return names
}

// addManifests adds the files, in dir and above it, from which the program named by word
// takes commands.
func (l *collector) addManifests(word, dir string) {
	patterns := manifests[strings.TrimSuffix(filepath.Base(word), ".exe")]
	for range maxParents {
		for _, p := range patterns {
			for _, name := range globIn(dir, p) {
				l.addScript(filepath.Join(dir, name), dir)
			}
		}
		up := filepath.Dir(dir)
		if up == dir || len(patterns) == 0 {
			return
		}
		dir = up
	}
}

// addScript adds a file and the scripts that it names.
func (l *collector) addScript(path, dir string) {
	text := l.add(path)
	if len(text) > maxFollowed {
		return
	}
	inside := map[string]bool{} // folders that exist: most words with a slash name nothing
	for _, w := range wordsOf(text) {
		name := inDir(dir, w)
		if strings.ContainsRune(w, '/') {
			up := filepath.Dir(name)
			if _, known := inside[up]; !known {
				inside[up] = isDir(up)
			}
			for _, end := range anyEndings {
				if inside[up] {
					l.add(name + end)
				}
			}
		} else if slices.Contains(scripts, filepath.Ext(w)) {
			l.add(name)
		}
	}
	for _, s := range startsIn(text) {
		for _, name := range s.files() {
			l.add(inDir(dir, name))
		}
	}
}

// scripts lists the endings of files that are run by name.
var scripts = []string{".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".lua", ".ps1", ".bat", ".cmd", ".mk"}

// add adds a regular file. It returns its text, or "" if the file is large or was tried
// before.
func (l *collector) add(path string) string {
	if l.tried[path] || l.err != nil {
		return ""
	}
	if l.tried[path] = true; len(l.tried) > maxTried {
		l.err = fmt.Errorf("%w: it names too many files", ErrUnpredictable)
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	l.order = append(l.order, path)
	switch l.left -= min(info.Size(), maxHashed); {
	case len(l.files) >= maxFiles || l.left < 0:
		l.err = fmt.Errorf("%w: it names too many files", ErrUnpredictable)
		return ""
	case info.Size() > maxHashed:
		l.files[path] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		return ""
	}
	data, err := regularfile.ReadFile(path, maxHashed)
	if err != nil {
		l.err = fmt.Errorf("%w: %w", ErrUnpredictable, err)
		return ""
	}
	l.files[path] = Hash(data)
	return string(data)
}

// Files lists the files that are run, those that the line names first. They must not be changed.
func (r *Footprint) Files() []string { return r.order }

// changes describes the first difference from r to now, for people; "" if they are equal
// but for contents that a person approved.
func (r *Footprint) changes(now *Footprint, approved Contents) string {
	if !sameFolder(r.dir, now.dir) {
		return "its folder has been replaced"
	}
	for w, was := range r.found { // both are of one line, so the words are the same
		if why := was.changes(w, now.found[w]); why != "" {
			return why
		}
	}
	for _, path := range slices.Concat(r.order, now.order) {
		was, is := r.files[path], now.files[path]
		switch name := r.Short(path); {
		case approved.lead(path, was, is):
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

// changes describes the difference from was to is, the program that word names; "" if they
// are equal.
func (was program) changes(word string, is program) string {
	switch {
	case was.path == "" && is.path == "":
	case is.path == "":
		return was.path + " is gone"
	case was.path != is.path:
		return word + " is now " + is.path
	case !os.SameFile(was.info, is.info) || was.info.Size() != is.info.Size() || !was.info.ModTime().Equal(is.info.ModTime()):
		return is.path + " has changed"
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

// Short returns path relative to the command's folder if it is inside.
func (r *Footprint) Short(path string) string {
	if rel, err := filepath.Rel(r.path, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
