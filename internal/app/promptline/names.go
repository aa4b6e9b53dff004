package promptline

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/fileindex"
)

// Names offers what an @ can name: what the editor has, if the query begins so, then
// the files and folders that match. It belongs to one goroutine.
type Names struct {
	Files  *fileindex.Finder
	Editor func() []string // "selection", …; what there is now
}

// Find returns the names for a query, the best first.
func (n *Names) Find(query string) []string {
	var out []string
	for _, name := range n.Editor() {
		if strings.HasPrefix(name, query) {
			out = append(out, name)
		}
	}
	return append(out, n.Files.Find(query)...)
}
