package tools

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/search"
)

// namesText formats names below their folder's name, with a note on omissions.
func namesText(folder string, n search.Names, one, many string) string {
	if len(n.Names) == 0 {
		return "No " + many + "." + partialText(n)
	}
	var b strings.Builder
	for _, name := range n.Names {
		b.WriteString(access.Under(folder, name) + "\n")
	}
	if len(n.Names) < n.Total {
		fmt.Fprintf(&b, "truncated: %d of %d %s shown", len(n.Names), n.Total, many)
	} else {
		b.WriteString(search.Count(n.Total, one, many))
	}
	return b.String() + partialText(n)
}

func partialText(n search.Names) string {
	if n.Partial {
		return fmt.Sprintf(" (the list is incomplete: the folder has more than %d files and folders)", search.MaxWalk)
	}
	return ""
}

// namesUser summarizes names for the user.
func namesUser(n search.Names, one, many string) string {
	if len(n.Names) < n.Total {
		return fmt.Sprintf("%d of %s", len(n.Names), search.Count(n.Total, one, many))
	}
	return search.Count(n.Total, one, many)
}
