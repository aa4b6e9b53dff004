// Package glob selects files by patterns of their paths.
package glob

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Glob selects files by path. A pattern without a slash matches the last name at any
// depth, any other the whole path. "**" matches any number of folders, {a,b} for either.
type Glob struct {
	pattern string
	anyDir  bool
}

// New returns the glob of pattern, or an error if it is malformed. A leading slash binds
// a pattern to the top, as in a path that is matched without one.
func New(pattern string) (Glob, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	if !doublestar.ValidatePattern(pattern) {
		return Glob{}, fmt.Errorf("the pattern %q is not a glob: use *, ?, **, [abc] and {a,b}", pattern)
	}
	return Glob{pattern: strings.TrimPrefix(pattern, "/"), anyDir: !strings.Contains(pattern, "/")}, nil
}

// Match reports whether g selects the file at name, which has forward slashes and no
// leading one.
func (g Glob) Match(name string) bool {
	if g.anyDir {
		name = path.Base(name)
	}
	return doublestar.MatchUnvalidated(g.pattern, name)
}
