package attachments

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/fileindex"
)

// Names completes the names behind an @: those of the editor that start with the query,
// then the files and folders that match it. It belongs to one goroutine.
type Names struct {
	Files  *fileindex.Finder
	Editor func() []string // returns the names available now: "selection", …
}

// Find returns the names that match a query, the best first.
func (n *Names) Find(query string) []string {
	var out []string
	for _, name := range n.Editor() {
		if strings.HasPrefix(name, query) {
			out = append(out, name)
		}
	}
	return append(out, n.Files.Find(query)...)
}
