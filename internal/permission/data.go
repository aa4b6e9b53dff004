package permission

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// dataCommands lists commands that do not run the files that their further words name: these are
// put into the index, or are a message. git's own hooks and filters are in its manifests.
var dataCommands = [][]string{
	{"git", "add"},
	{"git", "commit", "-m"},
	{"git", "commit", "-am"},
}

// withoutData returns the line of c that footprint.Of searches: without the words that are
// data, if all of its commands are in dataCommands or only read.
func withoutData(c *confirm.Command) string {
	if strings.Contains(c.Line, "=") { // a variable may name a program
		return c.Line
	}
	var kept []string
	for _, p := range c.Parts {
		fixed := dataWords(p.Words)
		switch {
		case p.Hidden || len(p.Words) == 0 || fixed == 0 && !p.Safe:
			return c.Line
		case fixed == 0:
			kept = append(kept, p.Words...)
			continue
		}
		kept = append(kept, p.Words[:fixed]...)
		for _, w := range p.Words[fixed:] {
			if strings.HasPrefix(w, "-") {
				kept = append(kept, w)
			}
		}
	}
	if len(kept) == 0 {
		return c.Line
	}
	return strings.Join(kept, " ")
}

// dataWords returns the number of words before the data of a command; 0 if it has none.
func dataWords(words []string) int {
	for _, fixed := range dataCommands {
		if len(words) > len(fixed) && slices.Equal(words[:len(fixed)], fixed) {
			return len(fixed)
		}
	}
	return 0
}
