// Package statusline sets the line below the prompt. It guarantees that an item is
// shown whole or not at all, and that where there is no room for all of them those
// that matter least are left out.
package statusline

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// The items there are.
const (
	Mode    = "mode"
	Model   = "model"
	Branch  = "branch"
	Context = "context"
	Editor  = "editor"
	Cost    = "cost"
	Tokens  = "tokens"
	Folder  = "folder"
)

// Names lists the items, in the order of the documentation.
func Names() []string {
	return []string{Mode, Model, Branch, Context, Editor, Cost, Tokens, Folder}
}

// weights lists the items, those that matter most first: what the agent may do, then
// what may end, then where one is.
var weights = []string{Mode, Context, Cost, Model, Editor, Branch, Tokens, Folder}

// between parts two items.
const between = " · "

// Line sets the items that are named in show and have a text, in that order, in at
// most width columns.
func Line(show []string, texts map[string]string, width int) string {
	var names []string
	for _, name := range show {
		if texts[name] != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for len(names) > 0 {
		if line := join(names, texts); ansi.StringWidth(line) <= width {
			return line
		}
		i := slices.Index(names, least(names))
		names = slices.Delete(names, i, i+1)
	}
	return ""
}

// First joins the first of some choices that fits in width columns, or else the last
// one. What is empty is left out. It does not make the parts safe.
func First(width int, choices ...[]string) string {
	line := ""
	for _, parts := range choices {
		parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
		if line = strings.Join(parts, between); ansi.StringWidth(line) <= width {
			break
		}
	}
	return line
}

func join(names []string, texts map[string]string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = sanitize.Line(texts[name])
	}
	return strings.Join(parts, between)
}

// least is the name that matters least.
func least(names []string) string {
	return slices.MaxFunc(names, func(a, b string) int { return slices.Index(weights, a) - slices.Index(weights, b) })
}
