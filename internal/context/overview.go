package modelcontext

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// The limits of the overview.
const (
	maxEntries  = 1000 // of a folder that are read
	maxNames    = 50
	maxNameText = 600 // bytes of all names
	maxName     = 48  // bytes of one
	maxCommands = 6
)

// overview describes the working directory for the start of a session: its files, the
// commands that build and test it, an unfinished operation of git. It is "" if there is
// nothing to describe.
func (p place) overview() string {
	var w strings.Builder
	dir := p.dirs[len(p.dirs)-1]
	if names := topNames(dir); names != "" {
		w.WriteString("- Files: " + names + "\n")
	}
	if commands, in := p.checks(); len(commands) > 0 {
		w.WriteString("- Build and test: " + strings.Join(commands, ", "))
		if in != dir {
			w.WriteString(" (in " + oneLine(in) + ")")
		}
		w.WriteString("\n")
	}
	if doing := p.unfinished(); doing != "" {
		w.WriteString("- Git: in the middle of a " + doing + "\n")
	}
	if w.Len() == 0 {
		return ""
	}
	return "\nThe working directory at the start of the session:\n" + w.String()
}

// checks returns the commands that build and test the project, and the folder for them.
func (p place) checks() (commands []string, dir string) {
	for _, d := range slices.Backward(p.dirs) {
		if commands := buildCommands(d); len(commands) > 0 {
			return commands, d
		}
	}
	return nil, ""
}

// topNames lists the names in a folder, without hidden ones; folders end in a slash.
func topNames(dir string) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	entries, _ := f.ReadDir(maxEntries) // the names up to an error are better than none
	if f.Close() != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		name := oneLine(e.Name())
		switch {
		case strings.HasPrefix(name, "."):
			continue
		case len(name) > maxName:
			name = strings.ToValidUTF8(name[:maxName], "") + "…"
		}
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	size, kept := 0, 0
	for kept < min(len(names), maxNames) && size+len(names[kept]) <= maxNameText {
		size += len(names[kept]) + len(", ")
		kept++
	}
	list := strings.Join(names[:kept], ", ")
	switch left := len(names) - kept; {
	case len(entries) == maxEntries:
		list += ", and many more"
	case left > 0:
		list += ", and " + strconv.Itoa(left) + " more"
	}
	return list
}

// buildFiles maps a file to the commands of its tool.
var buildFiles = []struct {
	name     string
	commands []string
}{
	{"go.mod", []string{"go build ./...", "go test ./..."}},
	{"Cargo.toml", []string{"cargo build", "cargo test"}},
	{"pom.xml", []string{"mvn test"}},
	{"gradlew", []string{"./gradlew test"}},
	{"mix.exs", []string{"mix test"}},
	{"pytest.ini", []string{"pytest"}},
	{"tox.ini", []string{"tox"}},
	{"CMakeLists.txt", []string{"cmake --build build"}},
}

// buildCommands returns the commands that build and test the project in dir, as far as its
// files reveal them. They consist of words known in advance: nothing in a file is copied.
func buildCommands(dir string) []string {
	commands := append(makeTargets(dir), packageScripts(dir)...)
	for _, f := range buildFiles {
		if info, err := os.Lstat(filepath.Join(dir, f.name)); err == nil && info.Mode().IsRegular() {
			commands = append(commands, f.commands...)
		}
	}
	if text, ok := readIn(dir, "pyproject.toml"); ok && strings.Contains(text, "[tool.pytest") {
		commands = append(commands, "pytest")
	}
	return commands[:min(len(commands), maxCommands)]
}

// usualTargets matches the start of a rule for a target with a common name.
var usualTargets = lazyregexp.New(`(?m)^(build|test|check|lint)[ \t]*:([^=]|$)`)

func makeTargets(dir string) (commands []string) {
	for _, name := range []string{"Makefile", "makefile", "GNUmakefile"} {
		text, ok := readIn(dir, name)
		if !ok {
			continue
		}
		for _, m := range usualTargets.FindAllStringSubmatch(text, -1) {
			if command := "make " + m[1]; !slices.Contains(commands, command) {
				commands = append(commands, command)
			}
		}
		return commands
	}
	return nil
}

func packageScripts(dir string) (commands []string) {
	text, ok := readIn(dir, "package.json")
	var file struct{ Scripts map[string]any }
	if !ok || json.Unmarshal([]byte(text), &file) != nil {
		return nil
	}
	runner := "npm"
	for _, lock := range []struct{ name, runner string }{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if _, err := os.Lstat(filepath.Join(dir, lock.name)); err == nil {
			runner = lock.runner
		}
	}
	for _, script := range []string{"build", "test", "lint"} {
		if file.Scripts[script] != nil {
			commands = append(commands, runner+" run "+script)
		}
	}
	return commands
}

// unfinished names the operation of git that the user has not finished; "" if there is
// none.
func (p place) unfinished() string {
	dir, ok := p.gitDir()
	if !ok {
		return ""
	}
	for _, o := range []struct{ file, what string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisection"},
	} {
		if _, err := os.Lstat(filepath.Join(dir, o.file)); err == nil {
			return o.what
		}
	}
	return ""
}
