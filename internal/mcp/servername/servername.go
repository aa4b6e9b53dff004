// Package servername has the rule for the name of an MCP server, which becomes a part of the
// names of its tools. It guarantees that a name that Fit returns is valid or empty.
package servername

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Max is the length of the longest name. It leaves room for the names of tools, which
// providers limit to 64 characters.
const Max = 30

var form = lazyregexp.New(`^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$`)

// Valid reports whether name follows the rule.
func Valid(name string) bool { return len(name) <= Max && form.MatchString(name) }

// Fit returns a valid name of the letters and digits in name, with hyphens between its
// words; "" if it has none.
func Fit(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	joined := strings.Join(words, "-")
	return strings.TrimRight(joined[:min(len(joined), Max)], "-")
}
