package permission

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/programs"
)

// withoutData returns the line of c that footprint.Of searches: without the words that are
// data, if all of its commands have such words or only read.
func withoutData(c *confirm.Command) string {
	if strings.Contains(c.Line, "=") { // a variable may name a program
		return c.Line
	}
	var kept []string
	for _, p := range c.Parts {
		fixed := 0
		if len(p.Words) > 0 {
			fixed = programs.Find(p.Words[0]).DataAfter(p.Words)
		}
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
