// Package usercommands reads slash commands that people wrote as Markdown files: a
// prompt each, with placeholders for arguments. It guarantees that such a command only
// ever becomes a prompt, that it never takes the name of another command, and that the
// number and size of files are limited.
package usercommands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/frontmatter"
	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Limits of a folder of commands.
const (
	maxFiles = 200
	maxDepth = 4
	maxSize  = 64 << 10
	maxHelp  = 120 // characters of a description
)

// Folder is a folder of commands: a file system, which may be missing, or the Texts
// read from it before.
type Folder struct {
	Files fs.FS
	Texts map[string][]byte
	Name  string // as people know it: "~/.agent/commands"
	Group command.Group
}

// Load reads the commands of folders. The first command with a name keeps it, after
// those in taken. The notes list the files left out, with reasons; they are not
// sanitized.
func Load(taken []string, folders ...Folder) (list []command.Command, notes []string) {
	owner := map[string]string{}
	for _, name := range taken {
		owner[name] = "a command of the program"
	}
	for _, f := range folders {
		found, err := f.list()
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s: %v", f.Name, err))
		}
		for _, file := range found {
			where := f.Name + "/" + file
			name := strings.ReplaceAll(strings.TrimSuffix(file, ".md"), "/", ":")
			c, err := read(f, file, name)
			switch {
			case err != nil:
				notes = append(notes, fmt.Sprintf("%s is left out: %v", where, err))
			case owner[name] != "":
				notes = append(notes, fmt.Sprintf("%s is left out: /%s is %s", where, name, owner[name]))
			default:
				owner[name] = "in " + f.Name
				list = append(list, c)
			}
		}
	}
	return list, notes
}

// OfUser reads the commands of the user's own folder, below home.
func OfUser(home string, taken []command.Command) (list []command.Command, notes []string) {
	dir := filepath.Join(home, "commands")
	return Load(names(taken), Folder{Files: os.DirFS(dir), Name: "~/.agent/commands", Group: command.Yours})
}

// OfProject returns the commands of a trusted project. It uses the texts read for the
// question of trust, since the files may have changed.
func OfProject(texts map[string][]byte, taken []command.Command) (list []command.Command, notes []string) {
	return Load(names(taken), Folder{Texts: texts, Name: ".agent/commands", Group: command.Projects})
}

// All returns the commands and skills of the user, then those of a project; see OfUser,
// OfProject and ofSkills.
func All(home string, texts map[string][]byte, usable []skills.Skill, taken []command.Command) (list []command.Command, notes []string) {
	add := func(more []command.Command, left []string) {
		list, notes = append(list, more...), append(notes, left...)
	}
	own := slices.IndexFunc(usable, func(s skills.Skill) bool { return s.Project })
	if own < 0 {
		own = len(usable)
	}
	add(OfUser(home, taken))
	add(ofSkills(usable[:own], slices.Concat(taken, list)))
	add(OfProject(texts, slices.Concat(taken, list)))
	add(ofSkills(usable[own:], slices.Concat(taken, list)))
	return list, notes
}

// ofSkills returns a command for each skill, which sends its text to the model. A skill whose
// name is taken has none, but the model may use it.
func ofSkills(usable []skills.Skill, taken []command.Command) (list []command.Command, notes []string) {
	used := names(taken)
	for _, s := range usable {
		if slices.Contains(used, s.Name) {
			notes = append(notes, fmt.Sprintf("/%s is another command, so only the model can use the skill %s; rename one of them", s.Name, s.FileName()))
			continue
		}
		group := command.Yours
		if s.Project {
			group = command.Projects
		}
		list = append(list, command.Command{
			Name: s.Name, Help: short(s.Description, maxHelp) + " (" + s.Source + ")", Group: group,
			Run: func(_ context.Context, args string) (command.Reply, error) {
				return command.Reply{Prompt: s.Prompt(args)}, nil
			},
		})
	}
	return list, notes
}

// InPlace returns the prompt of the command in list that a prompt names, or the prompt
// itself if it names none. Naming one of own, the program's commands, is an error.
func InPlace(ctx context.Context, prompt string, list, own []command.Command) (string, error) {
	name, args, ok := command.Split(prompt)
	if !ok {
		return prompt, nil
	}
	for _, c := range list {
		if c.Name == name {
			r, err := c.Run(ctx, args)
			return r.Prompt, err
		}
	}
	if slices.Contains(names(own), name) {
		return "", fmt.Errorf("/%s works in a session only; -p takes prompts and your own commands", name)
	}
	return prompt, nil
}

func names(list []command.Command) []string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.Name
	}
	return out
}

// list returns the names of the files.
func (f Folder) list() ([]string, error) {
	if f.Files == nil {
		return slices.Sorted(maps.Keys(f.Texts)), nil
	}
	return find(f.Files)
}

// content returns the content of a file.
func (f Folder) content(name string) ([]byte, error) {
	if f.Files == nil {
		return f.Texts[name], nil
	}
	return content(f.Files, name)
}

// find lists the Markdown files below a folder, sorted by name.
func find(files fs.FS) ([]string, error) {
	var found []string
	seen := 0
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > 10*maxFiles {
			return fmt.Errorf("more than %d files and folders: only the first were read", 10*maxFiles)
		}
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == ".":
			return fs.SkipAll
		case err != nil:
			return err
		case d.IsDir() && (hidden || name != "." && strings.Count(name, "/")+1 >= maxDepth):
			return fs.SkipDir
		case d.IsDir() || hidden || path.Ext(name) != ".md":
			return nil
		case len(found) == maxFiles:
			return fmt.Errorf("more than %d commands: only the first were read", maxFiles)
		}
		found = append(found, name)
		return nil
	})
	return found, err
}

// namePart matches a part of the name of a command. Its length is limited apart: as a
// count of repetitions it would take 0.2 ms to compile.
var namePart = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

const maxNamePart = 64

// isName reports whether name may be the name of a command, whose parts are separated by
// colons.
func isName(name string) bool {
	for part := range strings.SplitSeq(name, ":") {
		if len(part) > maxNamePart || !namePart.MatchString(part) {
			return false
		}
	}
	return true
}

// read reads one command.
func read(f Folder, file, name string) (command.Command, error) {
	if !isName(name) {
		return command.Command{}, errors.New("its name may hold letters, digits, - and _ only")
	}
	data, err := f.content(file)
	if err != nil {
		return command.Command{}, err
	}
	text, err := decode(data)
	if err != nil {
		return command.Command{}, err
	}
	head, body, err := split(text)
	if err != nil {
		return command.Command{}, err
	}
	if strings.TrimSpace(body) == "" {
		return command.Command{}, errors.New("no prompt in it")
	}
	help := head.Description
	if help == "" {
		help, _, _ = strings.Cut(strings.TrimLeft(strings.TrimSpace(body), "# "), "\n")
	}
	return command.Command{
		Name: name, Args: short(head.ArgumentHint, 40), Help: short(help, maxHelp) + " (" + f.Name + ")", Group: f.Group,
		Run: func(_ context.Context, args string) (command.Reply, error) {
			return command.Reply{Prompt: Expand(body, args)}, nil
		},
	}, nil
}

// content returns the content of a file within the size limit.
func content(files fs.FS, name string) ([]byte, error) {
	data, err := regularfile.ReadFS(files, name, maxSize)
	switch {
	case errors.Is(err, regularfile.ErrNotRegular):
		return nil, errors.New("not a file")
	case errors.Is(err, regularfile.ErrTooLarge):
		return nil, fmt.Errorf("larger than %d KiB", maxSize>>10)
	}
	return data, err
}

// decode returns a file's text.
func decode(data []byte) (string, error) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", errors.New("not UTF-8 text")
	}
	return strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n"), nil
}

// head is the front matter above a prompt.
type head struct {
	Description  string `yaml:"description"`
	ArgumentHint string `yaml:"argument-hint"`
}

// split separates the front matter. It ignores keys that only other programs know.
func split(text string) (h head, body string, err error) {
	matter, body, err := frontmatter.Split(text)
	switch {
	case errors.Is(err, frontmatter.ErrMissing):
		return h, text, nil
	case err != nil:
		return h, "", err
	}
	if err := yaml.Unmarshal([]byte(matter), &h); err != nil {
		return h, "", fmt.Errorf("front matter: %w", err)
	}
	return h, body, nil
}

func short(s string, most int) string { return clip.Runes(clip.Line(sanitize.Line(s)), most) }

var place = lazyregexp.New(`\\\$|\$ARGUMENTS\b|\$[1-9]`)

// Expand puts arguments into a prompt: all of them for $ARGUMENTS, one for each of $1
// to $9; \$ is a dollar sign. If the prompt has no placeholder, the arguments follow
// it.
func Expand(body, args string) string {
	var each []string
	used := false
	text := place.ReplaceAllStringFunc(body, func(what string) string {
		switch what {
		case `\$`:
			return "$"
		case "$ARGUMENTS":
			used = true
			return args
		}
		used = true
		if each == nil {
			each = words(args)
		}
		if i := int(what[1] - '1'); i < len(each) {
			return each[i]
		}
		return ""
	})
	text = strings.TrimSpace(text)
	if !used && args != "" {
		text += "\n\n" + args
	}
	return text
}

// words splits arguments at blanks outside of quotes.
func words(s string) []string {
	out := []string{}
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && slices.Contains([]rune(" \t\n"), r):
			if open {
				out = append(out, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		out = append(out, word.String())
	}
	return out
}
