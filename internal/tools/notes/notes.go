// Package notes says what a reviewer has to know about a change beside its diff.
// It guarantees that characters which do not show, files that make other programs
// run something, and text that was not matched exactly are never left unsaid.
package notes

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// On returns what a reviewer of c has to know, and whether a person has to
// look at it whatever the mode. home is the program's own folder.
func On(c workspace.Change, stage edit.Stage, home string) (notes []string, force bool) {
	if stage != edit.Exact {
		notes = append(notes, fmt.Sprintf("The text matched only after %s.", stage))
		force = stage.Loose()
	}
	if why := protectedAt(c, home); why != "" {
		notes = append(notes, fmt.Sprintf("%s is protected: %s.", c.Name, why))
		force = true
	}
	if note := hiddenIn(c); note != "" {
		notes = append(notes, note)
		force = true
	}
	if c.Exists && c.Mode&0o111 != 0 {
		notes = append(notes, c.Name+" is executable.")
	}
	return notes, force
}

// protectedAt is protected for a file that may also be so by its place: below
// this program's own folder, wherever that is, or in a repository's or a key
// ring's folder that the program was started in.
func protectedAt(c workspace.Change, home string) string {
	if why := protected(c.Name); why != "" {
		return why
	}
	if rel, err := filepath.Rel(home, c.Path); home != "" && err == nil && filepath.IsLocal(rel) {
		return "it belongs to this program"
	}
	for _, dir := range strings.Split(fold(filepath.ToSlash(filepath.Dir(c.Path))), "/") {
		switch dir {
		case ".git", ".husky":
			return "git may run what is in it"
		case ".vscode", ".idea", ".devcontainer", ".zed":
			return "an editor may run what is in it"
		case ".ssh":
			return "it holds settings of other programs"
		}
	}
	return ""
}

// protected says why a change of the file could run code or widen what is
// allowed, whether it exists yet or not. Case does not count: on some file
// systems it makes no difference.
func protected(name string) string {
	parts := strings.Split(fold(name), "/")
	base := parts[len(parts)-1]
	for i, dir := range parts[:len(parts)-1] {
		switch dir {
		case ".git", ".husky", ".githooks":
			return "git may run what is in it"
		case ".hg":
			return "Mercurial may run what is in it"
		case ".vscode", ".idea", ".devcontainer", ".zed", ".fleet":
			return "an editor may run what is in it"
		case ".claude", ".cursor", ".gemini", ".codex", ".windsurf", ".kiro", ".roo", ".opencode", ".amazonq":
			return "it holds settings of an agent, which may run what it names"
		case ".ssh", ".config":
			return "it holds settings of other programs"
		case ".agent":
			return "it holds settings of this program"
		case ".github", ".gitea", ".forgejo":
			if parts[i+1] == "workflows" || parts[i+1] == "actions" {
				return "a server runs it"
			}
		case ".circleci", ".buildkite", ".woodpecker":
			return "a server runs it"
		}
	}
	return protectedFile(base)
}

func protectedFile(base string) string {
	switch base {
	case ".git", ".gitmodules", ".gitattributes":
		return "git may run what it names"
	case ".gitconfig", ".hgrc":
		return "it says what other programs run"
	case ".envrc", ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".inputrc", ".xinitrc", ".xprofile":
		return "a shell runs it"
	case ".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el":
		return "an editor may run what is in it"
	case ".gdbinit", ".lldbinit", ".pdbrc", ".irbrc", ".pryrc", ".rprofile":
		return "a program that is started here runs it"
	case ".gitlab-ci.yml", "jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".travis.yml", "appveyor.yml", ".drone.yml":
		return "a server runs it"
	case ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml":
		return "git may run what it names"
	case ".npmrc", ".pnpmfile.cjs", "mise.toml", ".mise.toml", ".mcp.json", ".ripgreprc", ".bazelrc", "crontab":
		return "it says what other programs run"
	case "agents.md", "claude.md":
		return "it holds instructions for agents"
	case "sitecustomize.py", "usercustomize.py":
		return "Python runs it at every start"
	}
	switch {
	case strings.HasPrefix(base, ".env"):
		return "it holds secrets or settings"
	case strings.HasPrefix(base, ".yarnrc"):
		return "it says what other programs run"
	case path.Ext(base) == ".pth":
		return "Python runs it at every start"
	}
	return ""
}

// maxNamed is how many lines or characters a note names.
const maxNamed = 5

// hiddenIn counts the characters in added lines that do not show or that change
// how what is around them shows.
func hiddenIn(c workspace.Change) string {
	if !anyHidden(c.After) {
		return ""
	}
	count := 0
	var lines, kinds []string
	d := diff.Lines(c.Text, c.After)
	for _, e := range d.Edits {
		for i := e.BStart; i < e.BEnd; i++ {
			runes := hiddenRunes(d.B[i])
			if len(runes) == 0 {
				continue
			}
			count += len(runes)
			if len(lines) < maxNamed {
				lines = append(lines, fmt.Sprint(i+1))
				kinds = appendNew(kinds, fmt.Sprintf("U+%04X", runes[0]))
			} else if len(lines) == maxNamed {
				lines = append(lines, "…")
			}
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("Added lines hold hidden characters: %d, on lines %s (%s).", count, strings.Join(lines, ", "), strings.Join(kinds, ", "))
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

func anyHidden(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f {
			return true
		}
	}
	return false
}

// hiddenRunes returns the characters of a line, given with its ending, that do
// not show. What joins or colours an emoji does show.
func hiddenRunes(line string) []rune {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	var out []rune
	prev := rune(0)
	for _, r := range line {
		joins := r == '\u200d' || r == '\ufe0f'
		if isHidden(r) && (!joins || !isSymbol(prev)) {
			out = append(out, r)
		}
		if !joins {
			prev = r
		}
	}
	return out
}

func isHidden(r rune) bool {
	switch {
	case r == '\t':
		return false
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800: // blank letters
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

// isSymbol reports whether r may begin an emoji.
func isSymbol(r rune) bool {
	switch {
	case r == '#', r == '*', r >= '0' && r <= '9', r == '\u00a9', r == '\u00ae':
		return true
	}
	return r > 0xff && unicode.In(r, unicode.So, unicode.Sk, unicode.Sm, unicode.Po)
}
