package modelcontext

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// place is the position of the working directory: in a project or alone.
type place struct {
	root string   // the nearest folder with .git, or the working directory
	dirs []string // from root down to the working directory
	user string   // the program's own folder, with the user's instructions; may be empty
}

// The names of an instruction file. The first one found in a folder counts.
var instructionNames = [...]string{"AGENTS.md", "CLAUDE.md"}

// findPlace looks for the project's root above dir. It skips folders that do not belong
// to the user: anyone may put a .git into a shared folder.
func findPlace(dir string) place {
	dirs := []string{dir}
	for d := dir; ; {
		if info, err := os.Stat(d); err == nil && (d == dir || ours(info)) {
			if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
				slices.Reverse(dirs)
				return place{root: d, dirs: dirs}
			}
		}
		up := filepath.Dir(d)
		if up == d {
			return place{root: dir, dirs: []string{dir}}
		}
		dirs = append(dirs, up)
		d = up
	}
}

// stamp identifies a state of the project: the day, and the times and sizes of all
// files that the prompt depends on.
type stamp struct{ day, files string }

func (p place) stamp(day string) stamp {
	var b strings.Builder
	add := func(path string) {
		if info, err := os.Stat(path); err == nil {
			b.WriteString(path)
			b.WriteByte(0)
			b.WriteString(strconv.FormatInt(info.ModTime().UnixNano(), 36))
			b.WriteByte(0)
			b.WriteString(strconv.FormatInt(info.Size(), 36))
			b.WriteByte('\n')
		}
	}
	dirs := p.dirs
	if p.user != "" {
		dirs = append(slices.Clone(dirs), p.user)
	}
	for _, dir := range dirs {
		for _, name := range instructionNames {
			add(filepath.Join(dir, name))
		}
	}
	add(filepath.Join(p.root, ".git"))
	if dir, ok := p.gitDir(); ok {
		add(filepath.Join(dir, "HEAD"))
	}
	return stamp{day, b.String()}
}

// read reads the project's part of the prompt.
func (p place) read(choose func(in Instruction, text string) (Instruction, string)) project {
	proj := project{branch: p.branch()}
	proj.instructions, proj.text = p.instructions(choose)
	return proj
}
