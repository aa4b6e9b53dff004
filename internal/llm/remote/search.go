package remote

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// WebSearch is the change that leaves out the server's own search of the web.
const WebSearch = "no web_search"

// Searched tells the user of a search by the server.
func Searched(query string, results int) llm.Delta {
	return llm.Delta{Notice: fmt.Sprintf("Searched the web for %q: %d results.", query, results)}
}

// Citations collects the pages that an answer cites.
type Citations struct{ pages []string }

// Add adds a page.
func (c *Citations) Add(url, title string) {
	page := url
	if title != "" {
		page = title + " (" + url + ")"
	}
	if url != "" && !slices.Contains(c.pages, page) {
		c.pages = append(c.pages, page)
	}
}

// Deltas returns the delta that shows the pages; none without any.
func (c *Citations) Deltas() []llm.Delta {
	if len(c.pages) == 0 {
		return nil
	}
	return []llm.Delta{{Notice: "The answer cites " + strings.Join(c.pages, ", ") + "."}}
}
