// Package docs holds the pages about the program for the people who use it, so that agent help
// shows them.
package docs

import (
	"embed"
	"path"
	"regexp"
	"strings"
)

// Topic is a page.
type Topic struct{ Name, About string }

// Topics are the pages in the order of a new user's questions.
var Topics = []Topic{
	{"first-minutes", "the first ten minutes, step by step"},
	{"commands", "answer a question; all commands"},
	{"keys", "all keys, and how to change them"},
	{"permissions", "be asked less; permission modes; a turn as one review"},
	{"permission-rules", "how rules match, and how often the program still asks"},
	{"models", "providers, keys, options, caching"},
	{"configuration", "all settings, and where they are"},
	{"checks", "proposals that are tried before you see them"},
	{"trials", "commands that first run in a copy of the folder"},
	{"headless", "answers in scripts and pipes: agent -p"},
	{"editors", "VS Code, Zed, JetBrains, Neovim, Emacs"},
	{"sandbox", "what a command can reach"},
	{"mcp", "tools of MCP servers"},
	{"skills", "instructions that the model reads when it needs them"},
	{"subagents", "tasks that the model gives away"},
	{"hooks", "your commands at events, with an example"},
	{"hooks-reference", "events, input and answers of hooks"},
	{"language-servers", "names looked up by the language's own server"},
	{"environment", "the variables that commands inherit"},
	{"audit", "the log of answers and written files"},
	{"limits", "all limits"},
	{"platforms", "what is different on macOS and Windows"},
}

//go:embed audit.md checks.md commands.md configuration.md editors.md environment.md first-minutes.md headless.md hooks.md hooks-reference.md keys.md language-servers.md limits.md mcp.md models.md permission-rules.md permissions.md platforms.md sandbox.md skills.md subagents.md trials.md
var pages embed.FS

// Page returns a page in Markdown for a terminal: without pictures and comments, and with links to
// pages as the commands that show them. ok is false for an unknown name.
func Page(name string) (text string, ok bool) {
	data, err := pages.ReadFile(name + ".md")
	if err != nil {
		return "", false
	}
	text = regexp.MustCompile(`(?m)^(<!--.*-->|!\[.*\]\(.*\))\n\n?`).ReplaceAllString(string(data), "")
	link := regexp.MustCompile(`\[([^\]]*)\]\(([^):]*)\)`) // no address
	return link.ReplaceAllStringFunc(text, func(found string) string {
		parts := link.FindStringSubmatch(found)
		words, file := parts[1], strings.SplitN(parts[2], "#", 2)[0]
		page, markdown := strings.CutSuffix(path.Base(file), ".md")
		switch {
		case file == "":
			return words
		case markdown && path.Dir(file) == "." && known(page):
			if words == file {
				return "`agent help " + page + "`"
			}
			return words + " (`agent help " + page + "`)"
		}
		return words + " (" + path.Join("docs", file) + ")"
	}), true
}

func known(name string) bool {
	_, err := pages.Open(name + ".md")
	return err == nil
}
