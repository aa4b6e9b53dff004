// Package notes says what a reviewer has to know about a change beside its diff.
// It guarantees that characters which do not show, files that make other programs
// run something, and text that was not matched exactly are never left unsaid.
package notes

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// On returns what a reviewer of c has to know, and whether a person has to
// look at it whatever the mode. home is the program's own folder.
func On(c workspace.Change, stage edit.Stage, home string) (notes []caution.Note, force bool) {
	if stage != edit.Exact {
		notes = append(notes, caution.Note{Kind: caution.Loose, Text: fmt.Sprintf("The text matched only after %s.", stage)})
		force = stage.Loose()
	}
	if why := protectedAt(c, home); why != "" {
		notes = append(notes, caution.Note{Kind: caution.Protected, Text: fmt.Sprintf("%s is protected: %s.", c.Name, why)})
		force = true
	}
	for _, n := range caution.Of(diff.Lines(c.Text, c.After), c.Text, c.After, c.Exists) {
		notes = append(notes, n)
		force = force || n.Kind == caution.Hidden
	}
	if c.Exists && c.Mode&0o111 != 0 {
		notes = append(notes, caution.Note{Kind: caution.Executable, Text: c.Name + " is executable."})
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
