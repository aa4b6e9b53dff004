package repl

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// The items of the status line.
const (
	itemMode    = "mode"
	itemJobs    = "jobs"
	itemModel   = "model"
	itemBranch  = "branch"
	itemContext = "context"
	itemEditor  = "editor"
	itemCost    = "cost"
	itemTokens  = "tokens"
	itemFolder  = "folder"
)

// itemWeights lists the items by importance: permissions, limits, then places.
var itemWeights = []string{itemMode, itemJobs, itemContext, itemCost, itemModel, itemEditor, itemBranch, itemTokens, itemFolder}

// itemSeparator separates items.
const itemSeparator = " · "

// statusLine renders the non-empty items named in show, in that order, in at most width
// columns.
func statusLine(show []string, texts map[string]string, width int) string {
	var names []string
	for _, name := range show {
		if texts[name] != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for len(names) > 0 {
		if line := joinItems(names, texts); cells.Width(line) <= width {
			return line
		}
		i := slices.Index(names, leastItem(names))
		names = slices.Delete(names, i, i+1)
	}
	return ""
}

// firstFit joins the non-empty parts of the first choice that fits in width columns, or else
// of the last one. It does not sanitize them.
func firstFit(width int, choices ...[]string) string {
	line := ""
	for _, parts := range choices {
		parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
		if line = strings.Join(parts, itemSeparator); cells.Width(line) <= width {
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

// leastItem returns the least important item.
func leastItem(names []string) string {
	return slices.MaxFunc(names, func(a, b string) int { return slices.Index(itemWeights, a) - slices.Index(itemWeights, b) })
}
