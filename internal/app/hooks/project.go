package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/footprint"
	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// files are the files with a project's hooks. The first one that has any counts.
var files = [...]string{".agent/hooks.json", ".claude/settings.json"}

// maxFile bounds a project's file, in bytes.
const maxFile = 256 << 10

// Project is the hooks of a project. The zero value has none.
type Project struct {
	Dir     string // the project's folder, absolute
	Name    string // of the file, as people know it
	Hooks   []config.Hook
	Scripts []string // the files of the project that the hooks run, relative to Dir
	Whole   []string // hooks that may run any file of the project
	Hash    string   // of the hooks and the files that they may run
}

// Path returns the absolute path of the file with the hooks.
func (p Project) Path() string { return filepath.Join(p.Dir, filepath.FromSlash(p.Name)) }

// OfProject returns the hooks of the project in the folder dir, which has no symbolic links
// in its path. own is the program's own folder, which does not count as a project's. The
// notes list the hooks left out, with reasons; they are not sanitized.
func OfProject(dir, own string) (p Project, notes []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return p, nil // it has no hooks to report
	}
	defer root.Close()
	for _, name := range files {
		if home.OfUser(dir, name, own) {
			continue
		}
		data, err := regularfile.ReadIn(root, name, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var list []config.Hook
		var left []error
		if err == nil {
			list, left, err = config.ProjectHooks(name, data)
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("the hooks in %s are left out: %v", name, err))
		}
		for _, why := range left {
			notes = append(notes, fmt.Sprintf("a hook in %s is left out: %v", name, why))
		}
		if len(list) > 0 {
			p = Project{Dir: dir, Name: name, Hooks: list}
			p.Scripts, p.Whole, p.Hash = p.look()
			return p, notes
		}
	}
	return p, notes
}

// command returns the line of a hook in a project.
func command(line, dir string) footprint.Command {
	return footprint.Command{Line: line, Dir: dir, Env: variables(dir)}
}

// variables returns the variables that a hook gets besides those of a command.
func variables(dir string) []string {
	return []string{"CLAUDE_PROJECT_DIR=" + dir, "AGENT_PROJECT_DIR=" + dir}
}

// look returns the files of the project that the hooks run, the hooks that may run any, and a
// hash of the hooks and all of that.
func (p Project) look() (scripts, whole []string, hash string) {
	sum := sha256.New()
	note := func(text string) { fmt.Fprintf(sum, "%d %s ", len(text), text) }
	for _, h := range p.Hooks {
		note(h.Event)
		note(h.Matcher)
		note(h.Command)
		note(h.Timeout.String())
		what := command(h.Command, p.Dir)
		what.Still = true
		f := footprint.Of(what)
		note(f.Digest())
		for _, path := range f.Files() {
			if name := f.Short(path); !filepath.IsAbs(name) && !slices.Contains(scripts, name) {
				scripts = append(scripts, name)
			}
		}
		if reach, _ := f.Reach(); reach > footprint.Named {
			whole = append(whole, h.Command)
		}
		f.Close()
	}
	return scripts, whole, hex.EncodeToString(sum.Sum(nil))
}

// Lines describes the hooks and the scripts that they run, for the question of trust.
func (p Project) Lines() (lines []string) {
	for _, h := range p.Hooks {
		lines = append(lines, h.String())
	}
	for _, name := range p.Scripts {
		lines = append(lines, "they use "+filepath.ToSlash(name)+": look at it first")
	}
	for _, line := range p.Whole {
		lines = append(lines, "any file of this folder may be run by "+line+": you are asked again once one has changed that you have not seen")
	}
	return lines
}
