package safecmd

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/shellline"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Place is where a line would run.
type Place struct {
	Dir   string   // absolute, without symbolic links
	Roots []string // the folders that may be read without a question, and written; likewise
	Home  string   // the program's own folder
	Path  string   // the value of PATH
	Env   []string // of commands
}

// maxEntries is the number of entries up to which a folder is searched for files that
// hold keys.
const maxEntries = 50_000

// Judge judges line by its text, by the files that it names and by where its programs
// are.
func (p Place) Judge(line string) Judgement {
	j := p.judge(line)
	if j.Class == Safe {
		return j
	}
	if inner, ok := p.globbing(line, j); ok {
		return inner
	}
	for i, part := range j.Parts {
		for w, word := range part.Words {
			if w > 0 && p.linksAway(word) {
				j.Parts[i].away = append(j.Parts[i].away, w)
			}
		}
	}
	return j
}

// linksAway reports whether a word names a file outside of the project by a symbolic link
// in it. A link to nothing may be such a name.
func (p Place) linksAway(word string) bool {
	path := filepath.Join(p.Dir, word)
	inside := func(path string) bool {
		return slices.ContainsFunc(p.Roots, func(root string) bool { return within(root, path) })
	}
	if strings.HasPrefix(word, "-") || filepath.IsAbs(word) || len(word) > maxName || !inside(path) {
		return false // which a rule takes for more than an argument anyway
	}
	for ; inside(path); path = filepath.Dir(path) {
		if _, err := os.Lstat(path); err != nil {
			continue // it may be made
		}
		target, err := filepath.EvalSymlinks(path)
		return err != nil || !inside(target)
	}
	return false
}

// maxName is the length of a word in bytes up to which it can be the path of a file.
const maxName = 4096

// judge is Judge without the look at links.
func (p Place) judge(line string) Judgement {
	j := classify(line, p.Roots)
	if len(j.steps) == 0 {
		return j
	}
	if inner, ok := p.entering(line, j); ok {
		return inner
	}
	guarded := j.Class == Safe
	if runtime.GOOS == "windows" {
		for _, s := range j.steps {
			j.misplace(s, "what a command reads is not judged on Windows")
		}
		return j
	}
	for i, s := range j.steps {
		if s.operator != "" {
			continue
		}
		var why string
		s.name, why = p.program(s.name)
		if why == "" && !guarded {
			why = j.moved(s.part, p.Dir)
			s.reads.Hidden = true // without Script, rg may show hidden files
		}
		for _, at := range s.reads.Runs {
			if why == "" {
				s.args = slices.Clone(s.args)
				s.args[at], why = p.program(s.args[at])
			}
		}
		if why == "" {
			why = p.versions(&s)
		}
		if why == "" {
			why = p.reads(s)
		}
		if why != "" {
			j.misplace(s, why)
		}
		j.steps[i] = s
	}
	j.Misplaced = guarded && j.Class != Safe
	j.laidOut()
	return j
}

// misplace makes the part of a step ask.
func (j *Judgement) misplace(s step, why string) {
	if s.operator != "" {
		return
	}
	j.Class = max(j.Class, Ask)
	j.Parts[s.part].Class, j.Parts[s.part].Reason = Ask, why
}

// moved returns why the words of a part of a line that starts in dir may mean something else
// because of a part before it, or "".
func (j Judgement) moved(part int, dir string) string {
	for _, p := range j.Parts[:part] {
		if len(p.Words) > 0 && programs.Find(p.Words[0]).Is.Has(programs.Moves) && !slices.Equal(p.Words, []string{"cd", dir}) {
			return p.Words[0] + " changes what the names after it mean"
		}
	}
	return ""
}

// program returns the path of a program, or the name of a command of the shell, and why
// it may be another program.
func (p Place) program(name string) (path, why string) {
	if programs.Find(name).Is.Has(programs.Builtin) {
		return name, ""
	}
	search := lookpath.Search{Dirs: append([]string{p.Dir}, p.Roots...), Path: p.Path}
	path = search.Own(name) // the one that a shell would start
	if path != "" && !p.writable(path) {
		return "", fmt.Sprintf("%s is %s, which belongs to a project", name, path)
	}
	var err error
	if path == "" {
		if path, err = search.Find(name); err != nil {
			return "", name + " is not installed"
		}
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Sprintf("%s cannot be examined: %v", name, err)
	}
	for _, at := range []string{path, target} {
		if p.writable(at) {
			return "", fmt.Sprintf("%s is %s, which commands and edits can replace", name, at)
		}
	}
	return path, ""
}

// writable reports whether the agent, or everybody, can replace the program at path.
func (p Place) writable(path string) bool {
	if slices.ContainsFunc(append([]string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"}, p.Roots...), func(dir string) bool { return within(dir, path) }) {
		return true
	}
	for _, at := range []string{path, filepath.Dir(path)} {
		if info, err := os.Stat(at); err != nil || info.Mode()&0o002 != 0 {
			return true
		}
	}
	return false
}

// within reports whether path is in dir, or in the folder to which that leads.
func within(dir, path string) bool {
	target, err := filepath.EvalSymlinks(dir)
	return err == nil && subpath.In(target, path) || subpath.In(dir, path)
}

// versions makes the arguments of a command of git that name no file name commits. It returns why one may
// name something else, or "".
func (p Place) versions(s *step) string {
	if len(s.reads.Versions) == 0 {
		return ""
	}
	s.args = slices.Clone(s.args)
	sides := 0
	for _, at := range s.reads.Versions {
		arg := s.args[at]
		if _, err := os.Lstat(p.abs(arg)); err == nil {
			s.reads.Files = append(slices.Clip(s.reads.Files), arg)
			continue
		}
		if s.args[at] = programs.Commit(arg); s.args[at] == "" {
			return arg + " is neither a file nor known to be a version"
		}
		sides += 1 + strings.Count(arg, "..")
	}
	if s.args[0] == "diff" && sides > 2 {
		return "it compares more than two versions, in which files may have other names"
	}
	return ""
}

// reads returns why a file that a command reads needs a question, or "".
func (p Place) reads(s step) string {
	if s.reads.Compares {
		if why := p.repository(s); why != "" {
			return why
		}
	}
	for _, name := range s.reads.Old {
		if why := p.old(name, p.abs(name)); why != "" {
			return why
		}
	}
	for _, name := range s.reads.Files {
		if why := p.file(name, s.reads.Names); why != "" {
			return why
		}
		if s.reads.Flat && p.isDir(name) {
			return name + " is a folder, whose files it would show"
		}
		if s.reads.Deep {
			if why := p.below(name, s.reads); why != "" {
				return why
			}
		}
	}
	if s.in != "" {
		return p.file(s.in, false)
	}
	return ""
}

func (p Place) isDir(name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.Dir, name)
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// file returns why reading a file needs a question, or only listing it, or "". Where a
// link leads counts.
func (p Place) file(name string, listed bool) string {
	if name == "-" || name == "/dev/null" {
		return ""
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir, path)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = filepath.Clean(path) // it is missing, or something that is not a path
	}
	for _, at := range []string{filepath.Clean(path), target} {
		root := slices.IndexFunc(p.Roots, func(root string) bool { return within(root, at) })
		if root < 0 {
			return name + " is outside of the folder"
		}
		if why := p.secret(name, strings.TrimPrefix(at, p.Roots[root]), at); why != "" && !listed {
			return why
		}
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return name + " is not an ordinary file"
	}
	return ""
}

func (p Place) secret(name, below, abs string) string {
	if permission.Secret(below) || permission.NeverRead(abs, p.Home) != "" || p.Home != "" && within(p.Home, abs) {
		return name + " is a place that may contain passwords or keys"
	}
	if why := permission.Credentials(abs); why != "" {
		return name + " " + why
	}
	return ""
}

// below returns why reading everything in a folder, as r does, needs a question, or "".
func (p Place) below(name string, r programs.Reads) string {
	top := name
	if !filepath.IsAbs(top) {
		top = filepath.Join(p.Dir, top)
	}
	if target, err := filepath.EvalSymlinks(top); err == nil {
		top = target
	}
	if r.Passed && strings.ContainsAny(name, r.Blanks) {
		return name + " is more than one word for xargs"
	}
	entries, why := 0, ""
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		entries++
		rel := strings.TrimPrefix(strings.TrimPrefix(path, top), string(filepath.Separator))
		switch {
		case err != nil: // the command cannot read it either
		case !r.Hidden && rel != "" && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entries > maxEntries:
			why = name + " has too many files to look for those that hold keys"
		case rel != "" && includes(r, e.Name()):
			why = p.entry(filepath.Join(name, rel), rel, path, e, r)
		}
		if why == "" {
			return nil
		}
		return filepath.SkipAll
	})
	if err != nil {
		return fmt.Sprintf("%s cannot be searched: %v", name, err)
	}
	return why
}

// includes reports whether r is about files with a name.
func includes(r programs.Reads, name string) bool {
	if r.Only == "" {
		return true
	}
	ok, err := filepath.Match(r.Only, name)
	return ok || err != nil
}

// entry returns why reading an entry of a folder needs a question, or "".
func (p Place) entry(name, rel, path string, e fs.DirEntry, r programs.Reads) string {
	switch {
	case r.Passed && strings.ContainsAny(rel, r.Blanks):
		return name + " is more than one word for xargs"
	case r.Links && e.Type()&fs.ModeSymlink != 0:
		return p.file(path, r.Names)
	case r.Links && !e.IsDir() && !e.Type().IsRegular():
		return name + " is not an ordinary file"
	case !e.IsDir() && !r.Names:
		return p.secret(name, rel, path)
	}
	return ""
}

// Script returns the line to run for a safe line that Place.Judge returned: the same
// commands, each program by its path, each word in quotes, git without the programs that
// a repository can name. It is "" for another line. It needs programs.Env in its environment.
func (j Judgement) Script() string {
	if j.Class != Safe {
		return ""
	}
	var words []string
	if j.enters != "" {
		words = append(words, "cd", shellline.Quote(j.enters), "|| exit ;")
	}
	for _, s := range j.steps {
		if s.operator != "" {
			words = append(words, s.operator)
			continue
		}
		name := s.name
		if !programs.Find(name).Is.Has(programs.Builtin) {
			name = shellline.Quote(name)
		}
		words = append(words, name)
		args := s.args
		if guard := programs.Find(filepath.Base(s.name)).Guard; guard != nil {
			args = guard(args, s.reads)
		}
		if len(args) > 0 {
			words = append(words, shellline.Line(args))
		}
		if s.in != "" {
			words = append(words, "<"+shellline.Quote(s.in))
		}
		words = append(words, s.discard...)
	}
	return strings.Join(words, " ")
}
