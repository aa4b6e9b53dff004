package attachments

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/fileindex"
)

// maxNamed is the number of resources that are offered.
const maxNamed = 50

// Names completes the names behind an @: those of the editor that start with the query,
// then the resources of MCP servers, the files and the folders that match it. It belongs to
// one goroutine.
type Names struct {
	Files  *fileindex.Finder
	Editor func() []string // returns the names available now: "selection", …
	// Resources returns the resources of MCP servers that begin with a query.
	Resources func(query string) []string
}

// Find returns the names that match a query, the best first.
func (n *Names) Find(query string) []string {
	var out []string
	for _, name := range n.Editor() {
		if strings.HasPrefix(name, query) {
			out = append(out, name)
		}
	}
	resources := n.Resources(query)
	resources = resources[:min(len(resources), maxNamed)]
	if query == "" {
		return slices.Concat(out, n.Files.Find(query), resources)
	}
	return slices.Concat(out, resources, n.Files.Find(query))
}
