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
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/shellline"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Bounds of the search for what one command runs.
const (
	maxHashed   = 4 << 20  // bytes of a file that is hashed; a larger one is known by size and time
	maxBytes    = 32 << 20 // of all hashed files
	maxFiles    = 400
	maxScripts  = 60        // files after which no further one is searched: anything may be run
	maxFollowed = 256 << 10 // bytes of a file that is searched for names of scripts
	maxParents  = 32
	maxTried    = 100_000 // names of which it is checked whether they are files
	maxDirs     = 16      // folders to which the names in one text may be relative
)

// ErrUnpredictable is returned for a command line that does not reveal its footprint.
var ErrUnpredictable = errors.New("what it runs is not known in advance")

// Reach is how much of a folder a line may run besides the files of its footprint.
type Reach = programs.Reach

// The reaches.
const (
	Named    = programs.Named
	Sources  = programs.Sources
	Anything = programs.Anything
)

// Command is a line to be run by a shell.
type Command struct {
	Line string
	Dir  string   // absolute
	Env  []string // variables besides those of this process, as NAME=VALUE

	// Still starts no program to find the footprint: the settings of git are searched as texts. It
	// is for folders that are not trusted yet.
	Still bool
}

// Words returns the command of a program with arguments, without a shell, and with the variables
// env, as NAME=VALUE.
func Words(dir string, args, env []string) Command {
	var line []string
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok && syntax.ValidName(name) {
			line = append(line, name+"="+shellline.Quote(value))
		}
	}
	return Command{Line: strings.Join(append(line, shellline.Line(args)), " "), Dir: dir}
}

// Footprint lists the things that a command line runs, as far as it shows: its folder, the
// programs that its words name, the scripts, and the files from which known programs take
// commands. If two footprints of a line differ, it may do something else than before.
type Footprint struct {
	dir   *os.File           // held open, so that no other folder gets its identity; nil if missing
	path  string             // the path of dir
	files map[string]string  // hash by path
	order []string           // of files: those named by the line before those named by them
	found map[string]program // by word
	reach Reach
	why   string // the program that reaches so far
	err   error
}

type program struct {
	path string // empty if not found
	info fs.FileInfo
}

// Of returns the things that a command runs. The caller must close it.
func Of(c Command) *Footprint {
	r := &Footprint{path: c.Dir, files: map[string]string{}, found: map[string]program{}}
	held, err := openFolder(c.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.err = fmt.Errorf("%w: %w", ErrUnpredictable, err)
		return r
	}
	r.dir = held
	l := newCollector(r, environ(append(slices.Clip(c.Env), "PWD="+c.Dir)))
	l.still = c.Still
	l.line(c.Line)
	r.err = l.err
	return r
}

// Close lets go of the folder.
func (r *Footprint) Close() {
	if r.dir != nil {
		_ = r.dir.Close() // it was only held
	}
}

// Unknown returns an error with ErrUnpredictable if the line does not reveal its footprint: it may
// run anything then, also outside of its folder.
func (r *Footprint) Unknown() error { return r.err }

// Reach returns how much of its folder the line may run besides the files of the footprint, and
// the program that makes it so.
func (r *Footprint) Reach() (reach Reach, program string) {
	if r.err != nil {
		return Anything, "the command"
	}
	return r.reach, r.why
}

// wordsOf splits a line roughly into words: too many of them do no harm.
func wordsOf(line string, env func(string) string) []string {
	seen := map[string]bool{}
	var out []string
	cut := func(s, at string) {
		for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(at, r) }) {
			w = strings.Trim(w, "\"'\\")
			for _, w := range []string{w, valueOf(w)} {
				if w != "" && !seen[w] {
					seen[w] = true
					out = append(out, w)
				}
			}
		}
	}
	const blanks = " \t\r\n;|&()<>`"
	for _, s := range []string{line, os.Expand(line, env)} {
		cut(s, blanks)
		cut(s, blanks+"{}=,:$\"'")
		cut(s, blanks+"{}=,:$\"'[]@!+")
	}
	return out
}

// valueOf returns the rest of a word that may be an option of one letter with its value: -fFILE.
func valueOf(word string) string {
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		return word[2:]
	}
	return ""
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

// find returns the program that a word names, in the folders of search, which is like PATH.
func find(word, dir, search string) program {
	if strings.ContainsRune(word, '/') || strings.ContainsRune(word, filepath.Separator) {
		return program{}
	}
	for _, d := range filepath.SplitList(search) {
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

// Holds reports whether a path is in the folder of the line.
func (r *Footprint) Holds(path string) bool { return subpath.In(r.path, path) }

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
	if rel, ok := subpath.Of(r.path, path); ok {
		return rel
	}
	return path
}
