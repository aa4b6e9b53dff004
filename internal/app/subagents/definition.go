// Package subagents runs sub-agents: tasks that the model gives to conversations of their
// own. It guarantees that a sub-agent calls only the tools that its definition lists, that
// calls which may change something run one at a time in all of them, that none begins
// another, and that all have ended when the call that began them has.
package subagents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/app/frontmatter"
	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Limits of definitions.
const (
	maxFiles       = 50 // of a folder
	maxSize        = 64 << 10
	maxName        = 64
	maxDescription = 300 // characters for the model
)

// Definition defines a sub-agent.
type Definition struct {
	Name        string
	Description string   // when to use it
	Tools       []string // that it may call
	Model       string   // empty for that of the session
	Role        string   // the text for its system prompt
	Path        string   // of its file
	File        string   // its name for people
	Text        string   // of the file
}

// webSearch permits the search of the web by the provider itself, which is no tool of ours.
const webSearch = "web_search"

// unlisted returns the tools of a sub-agent whose definition lists none.
func unlisted() []string { return append(tools.Helpers(), webSearch) }

// Searches reports whether the provider may search the web for this sub-agent.
func (d Definition) Searches() bool { return tools.Cover(d.Tools, webSearch) }

// Summary describes d to a person who decides whether to trust it.
func (d Definition) Summary() string {
	s := d.Description + " · may use: " + strings.Join(d.Tools, ", ")
	if d.Model != "" {
		s += "; by the model " + d.Model
	}
	return s
}

// OfUser reads the user's definitions, in the folder agents below home. The notes list the
// files left out, with reasons; they are not sanitized.
func OfUser(home string) (list []Definition, notes []string) {
	dir := filepath.Join(home, "agents")
	return load(os.DirFS(dir), dir, "~/.agent/agents")
}

// First returns the first definition with each name, and notes about the others.
func First(all []Definition) (list []Definition, notes []string) {
	for _, d := range all {
		i := slices.IndexFunc(list, func(have Definition) bool { return have.Name == d.Name })
		if i < 0 {
			list = append(list, d)
			continue
		}
		notes = append(notes, fmt.Sprintf("%s is left out: the agent %s is defined in %s", d.File, d.Name, list[i].File))
	}
	return list, notes
}

// OfProject is OfUser for the project in the folder dir, which has no symbolic links in its
// path. own is the program's own folder, which does not count as a project's.
func OfProject(dir, own string) (list []Definition, notes []string) {
	project, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil // it has no definitions to report
	}
	defer project.Close()
	for _, name := range []string{".agent/agents", ".claude/agents"} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if home.OfUser(dir, name, own) {
			continue
		}
		folder, err := project.OpenRoot(filepath.FromSlash(name))
		if err != nil {
			continue
		}
		found, more := load(folder.FS(), at, name)
		list, notes = append(list, found...), append(notes, more...)
		_ = folder.Close() // nothing was written
	}
	return list, notes
}

// load reads the definitions in the folder dir, which may be missing. name is its name for
// people.
func load(folder fs.FS, dir, name string) (list []Definition, notes []string) {
	files, err := fs.Glob(folder, "*.md")
	if err != nil {
		return nil, []string{name + ": " + err.Error()}
	}
	if len(files) > maxFiles {
		notes = append(notes, fmt.Sprintf("%s: only the first %d files are read", name, maxFiles))
		files = files[:maxFiles]
	}
	for _, file := range files {
		d, more, err := read(folder, file)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s is left out: %v", path.Join(name, file), err))
			continue
		}
		for _, note := range more {
			notes = append(notes, path.Join(name, file)+": "+note)
		}
		d.Path, d.File = filepath.Join(dir, file), path.Join(name, file)
		list = append(list, d)
	}
	return list, notes
}

// read reads a definition.
func read(files fs.FS, name string) (d Definition, notes []string, err error) {
	data, err := regularfile.ReadFS(files, name, maxSize)
	switch {
	case errors.Is(err, regularfile.ErrTooLarge):
		return d, nil, fmt.Errorf("larger than %d KiB", maxSize>>10)
	case err != nil:
		return d, nil, err
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return d, nil, errors.New("not UTF-8 text")
	}
	return parse(strings.TrimSuffix(name, ".md"), string(data))
}

// nameForm is the form of a name. Its length is limited apart.
var nameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// head is the front matter of a definition, without the keys of other programs.
type head struct {
	Name        string    `yaml:"name"`
	Description string    `yaml:"description"`
	Tools       toolNames `yaml:"tools"`
	Model       string    `yaml:"model"`
}

// toolNames is a list, or text with commas.
type toolNames []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (t *toolNames) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Decode((*[]string)(t))
	}
	depth := 0
	*t = strings.FieldsFunc(n.Value, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (r == ',' || r == ' ')
	})
	return nil
}

// parse reads a definition in the file called name, without its extension.
func parse(name, text string) (d Definition, notes []string, err error) {
	matter, body, err := frontmatter.Split(text)
	switch {
	case errors.Is(err, frontmatter.ErrMissing):
		return d, nil, fmt.Errorf("%w: a line ---, keys such as description:, and a line ---", err)
	case err != nil:
		return d, nil, fmt.Errorf("%w, or the text below it", err)
	}
	h := head{Name: name}
	if err := yaml.Unmarshal([]byte(frontmatter.Normalize(matter, "name", "description", "model")), &h); err != nil {
		return d, nil, fmt.Errorf("the front matter is not YAML: %w", err)
	}
	d = Definition{Name: h.Name, Description: short(h.Description), Model: h.Model, Role: strings.TrimSpace(body), Text: text}
	switch {
	case len(d.Name) > maxName || !nameForm.MatchString(d.Name):
		return d, nil, fmt.Errorf("its name %q may hold letters, digits, - and _ only, %d at most", d.Name, maxName)
	case d.Description == "":
		return d, nil, errors.New("its description is missing: add description: with when to use it")
	case d.Role == "":
		return d, nil, errors.New("it has no text below the front matter")
	}
	if d.Model == "inherit" {
		d.Model = ""
	}
	d.Tools, notes, err = toolsOf(h.Tools)
	return d, notes, err
}

func short(s string) string { return clip.Runes(sanitize.Line(clip.Line(s)), maxDescription) }

// toolsOf returns our names of the listed tools; without any, those that read. A * at the end of a
// name is for any rest. The notes list the tools that we do not have, and limits that we do not
// know, such as that of Bash(git log:*).
func toolsOf(listed []string) (names, notes []string, err error) {
	if len(listed) == 0 {
		return unlisted(), nil, nil
	}
	for _, entry := range listed {
		name, note := toolOf(entry)
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	switch {
	case slices.Equal(names, []string{webSearch}):
		return nil, nil, errors.New("it lists the search of the web alone, which providers get together with tools: add one, such as Read")
	case len(names) == 0:
		return nil, nil, fmt.Errorf("it lists no tool that a sub-agent can have: %s", strings.Join(listed, ", "))
	}
	return names, notes, nil
}

// toolOf returns our name of a listed tool; none for one that no sub-agent gets.
func toolOf(entry string) (tool, note string) {
	name, limit, limited := strings.Cut(entry, "(")
	ours := tools.Ours(name)
	searches := strings.EqualFold(name, "WebSearch") || name == webSearch
	switch {
	case tools.FactsOf(ours).Alone:
		return "", ""
	case searches && limited:
		return "", fmt.Sprintf("it gets no search of the web: the provider would not keep the limit (%s", limit)
	case searches:
		return webSearch, ""
	case ours == "" && strings.HasPrefix(name, mcp) && strings.Count(name, "__") == 1:
		return name + "__*", "" // all tools of a server
	case ours == "" && (strings.HasPrefix(name, mcp) || name == "*"):
		return name, ""
	case ours == "":
		return "", fmt.Sprintf("it gets no tool %q, which is unknown", name)
	case limited:
		note = fmt.Sprintf("the limit (%s of its tool %s is not kept: each call asks, unless a rule of yours allows it", limit, name)
	}
	return ours, note
}

// mcp begins the names of servers' tools.
const mcp = "mcp__"

// permits reports whether a sub-agent with these tools may call one.
func permits(names []string, tool string) bool {
	return tools.Cover(names, tool) && !tools.FactsOf(tool).Alone
}
