// Package skills finds skills: folders with a file SKILL.md, whose front matter has a name
// and a description for the model, and whose body it reads when a task fits. It guarantees
// that a skill in use follows the public format, that nothing outside a project is read as
// a skill of the project, and that the number and size of files are limited.
package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// File is the name of the file in a skill's folder.
const File = "SKILL.md"

// Limits of a folder of skills.
const (
	maxEntries = 1000
	maxSkills  = 100
	maxSize    = 64 << 10 // bytes of a file
)

// Skill is a skill that can be used.
type Skill struct {
	Head
	Dir     string // its folder, absolute, without symbolic links
	Text    string // of its file
	Body    string // Text without the front matter
	Source  string // the folder of skills as people know it: "~/.agent/skills"
	Project bool   // it belongs to the project
}

// Path returns the absolute path of the skill's file.
func (s Skill) Path() string { return filepath.Join(s.Dir, File) }

// FileName returns the skill's file as people know it.
func (s Skill) FileName() string { return s.Source + "/" + s.Name + "/" + File }

// Prompt returns the prompt with which a person uses the skill. Its text is not a template:
// a "$1" in it is part of a script.
func (s Skill) Prompt(args string) string {
	text := fmt.Sprintf("Follow the skill %s. Paths in it are relative to its folder, %s\n\n%s", s.Name, s.Dir, s.Body)
	if strings.Contains(text, "$ARGUMENTS") {
		return strings.ReplaceAll(text, "$ARGUMENTS", args)
	}
	return strings.TrimSpace(text + "\n\n" + args)
}

// OfUser returns the skills of the user: those in the program's own folder home, then those
// in .claude/skills of the home directory. The notes list the skills left out with reasons and
// remedies; they are not sanitized.
func OfUser(home string) (list []Skill, notes []string) {
	finder := finder{}
	finder.folder(filepath.Join(home, "skills"), "~/.agent/skills")
	if user, err := os.UserHomeDir(); err == nil {
		finder.folder(filepath.Join(user, ".claude", "skills"), "~/.claude/skills")
	}
	return finder.list, finder.notes
}

// OfProject is OfUser for the project in the folder dir, which has no symbolic links in its
// path. own is the program's own folder, which does not count as a project's.
func OfProject(dir, own string) (list []Skill, notes []string) {
	project, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil // it has no skills to report
	}
	defer project.Close()
	finder := finder{}
	for _, name := range []string{".agent/skills", ".claude/skills"} {
		if !home.OfUser(dir, name, own) {
			finder.inProject(project, dir, name)
		}
	}
	return finder.list, finder.notes
}

// First returns the first skill with each name. The notes list the others.
func First(all []Skill) (list []Skill, notes []string) {
	owner := map[string]string{}
	for _, s := range all {
		if own, taken := owner[s.Name]; taken {
			notes = append(notes, fmt.Sprintf("%s is left out: %s has a skill of that name, too", s.FileName(), own))
			continue
		}
		owner[s.Name] = s.Source
		list = append(list, s)
	}
	return list, notes
}

// Named reports whether a file with this path would be a skill of a project.
func Named(path string) bool {
	parts := strings.Split(filepath.ToSlash(path), "/")
	n := len(parts)
	return n >= 4 && parts[n-1] == File && parts[n-3] == "skills" && (parts[n-4] == ".agent" || parts[n-4] == ".claude")
}

// finder collects skills.
type finder struct {
	list  []Skill
	notes []string
}

// folder adds the skills in a folder of the user, where a skill may be a link.
func (f *finder) folder(dir, name string) {
	at, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	f.each(at, err, name, func(entry string) (string, []byte, error) {
		resolved, err := filepath.EvalSymlinks(filepath.Join(dir, entry))
		if err != nil {
			return "", nil, err
		}
		data, err := regularfile.ReadFile(filepath.Join(resolved, File), maxSize)
		return resolved, data, err
	}, false)
}

// inProject adds the skills in a folder of a project.
func (f *finder) inProject(project *os.Root, dir, name string) {
	at, err := regularfile.OpenFolder(project, name)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	f.each(at, err, name, func(entry string) (string, []byte, error) {
		file := path.Join(name, entry, File)
		data, err := regularfile.ReadIn(project, file, maxSize)
		return filepath.Join(dir, filepath.FromSlash(path.Dir(file))), data, err
	}, true)
}

// each adds the skill in each entry of the folder at, which read returns with its own
// folder. err is the error of opening at.
func (f *finder) each(at *os.File, err error, name string, read func(entry string) (dir string, data []byte, err error), project bool) {
	var entries []fs.DirEntry
	if err == nil {
		entries, err = at.ReadDir(maxEntries)
		err = errors.Join(unlessEnd(err), at.Close())
	}
	if err != nil {
		f.notes = append(f.notes, fmt.Sprintf("the skills in %s are left out: %v", name, err))
		return
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	found := 0
	for _, d := range entries {
		if strings.HasPrefix(d.Name(), ".") || !d.IsDir() && d.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if found++; found > maxSkills {
			f.notes = append(f.notes, fmt.Sprintf("%s has more than %d skills: only the first are used; remove some", name, maxSkills))
			return
		}
		dir, data, err := read(d.Name())
		s := Skill{Dir: dir, Source: name, Project: project}
		if err = explain(err); err == nil {
			err = s.parse(d.Name(), data)
		}
		if err != nil {
			f.notes = append(f.notes, fmt.Sprintf("%s/%s/%s is left out: %v", name, d.Name(), File, err))
			continue
		}
		f.list = append(f.list, s)
	}
}

func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// explain adds the remedy to an error of reading.
func explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the file is missing; add it, or remove the folder")
	case errors.Is(err, regularfile.ErrNotRegular):
		return errors.New("it is not a file")
	case errors.Is(err, regularfile.ErrTooLarge):
		return fmt.Errorf("it is larger than %d KiB; move parts into other files of the folder and name them in it", maxSize>>10)
	}
	return err
}
