package search

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Glob selects files by path. A pattern without a slash matches the last name at any
// depth, any other the path below the searched folder. "**" matches any number of
// folders, {a,b} for either.
type Glob struct {
	pattern string
	anyDir  bool
}

// NewGlob returns the glob of pattern, or an error if it is malformed.
func NewGlob(pattern string) (Glob, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	if !doublestar.ValidatePattern(pattern) {
		return Glob{}, fmt.Errorf("the pattern %q is not a glob: use *, ?, **, [abc] and {a,b}", pattern)
	}
	return Glob{pattern: strings.TrimPrefix(pattern, "/"), anyDir: !strings.Contains(pattern, "/")}, nil
}

// Match reports whether g selects the file at name, which has forward slashes.
func (g Glob) Match(name string) bool {
	if g.anyDir {
		name = path.Base(name)
	}
	return doublestar.MatchUnvalidated(g.pattern, name)
}

func (g Glob) filter(names []string) []string {
	out := names[:0]
	for _, n := range names {
		if g.Match(n) {
			out = append(out, n)
		}
	}
	return out
}
