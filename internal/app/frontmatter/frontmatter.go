// Package frontmatter separates the front matter of a Markdown file, which is YAML between
// two lines "---", from the text below it.
package frontmatter

import (
	"errors"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Errors of Split.
var (
	ErrMissing = errors.New("it does not begin with front matter")
	ErrOpen    = errors.New("the line --- that ends the front matter is missing")
)

// fence matches the lines around front matter, with blanks at their ends.
var fence = lazyregexp.New(`(?m)^---[ \t]+$`)

// Split returns the front matter and the text below it, with LF line endings.
func Split(text string) (matter, body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	text = fence.ReplaceAllString(strings.TrimLeft(text, "\n"), "---")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", "", ErrMissing
	}
	if matter, body, ok = strings.Cut("\n"+rest, "\n---\n"); ok {
		return matter, body, nil
	}
	if matter, ok = strings.CutSuffix("\n"+rest, "\n---"); !ok {
		return "", "", ErrOpen
	}
	return matter, "", nil
}
