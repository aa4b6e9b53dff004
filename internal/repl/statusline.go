package repl

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// The items there are.
const (
	itemMode    = "mode"
	itemModel   = "model"
	itemBranch  = "branch"
	itemContext = "context"
	itemEditor  = "editor"
	itemCost    = "cost"
	itemTokens  = "tokens"
	itemFolder  = "folder"
)

// StatusItems lists the items, in the order of the documentation.
func StatusItems() []string {
	return []string{itemMode, itemModel, itemBranch, itemContext, itemEditor, itemCost, itemTokens, itemFolder}
}

// itemWeights lists the items, those that matter most first: what the agent may do, then
// what may end, then where one is.
var itemWeights = []string{itemMode, itemContext, itemCost, itemModel, itemEditor, itemBranch, itemTokens, itemFolder}

// itemSeparator parts two items.
const itemSeparator = " · "

// statusLine sets the items that are named in show and have a text, in that order, in at
// most width columns.
func statusLine(show []string, texts map[string]string, width int) string {
	var names []string
	for _, name := range show {
		if texts[name] != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for len(names) > 0 {
		if line := joinItems(names, texts); ansi.StringWidth(line) <= width {
			return line
		}
		i := slices.Index(names, leastItem(names))
		names = slices.Delete(names, i, i+1)
	}
	return ""
}

// firstFit joins the first of some choices that fits in width columns, or else the last
// one. What is empty is left out. It does not make the parts safe.
func firstFit(width int, choices ...[]string) string {
	line := ""
	for _, parts := range choices {
		parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
		if line = strings.Join(parts, itemSeparator); ansi.StringWidth(line) <= width {
			break
		}
	}
	return line
}

func joinItems(names []string, texts map[string]string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = sanitize.Line(texts[name])
	}
	return strings.Join(parts, itemSeparator)
}

// leastItem is the name that matters least.
func leastItem(names []string) string {
	return slices.MaxFunc(names, func(a, b string) int { return slices.Index(itemWeights, a) - slices.Index(itemWeights, b) })
}
