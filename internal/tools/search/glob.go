package search

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Glob selects files by path. A pattern without a slash is matched against the
// last name at any depth, another against the path below the searched folder.
// "**" stands for any number of folders, {a,b} for either.
type Glob struct {
	pattern string
	anyDir  bool
}

// NewGlob returns an error for a pattern that is malformed.
func NewGlob(pattern string) (Glob, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	if !doublestar.ValidatePattern(pattern) {
		return Glob{}, fmt.Errorf("the pattern %q is not a glob: use *, ?, **, [abc] and {a,b}", pattern)
	}
	return Glob{pattern: strings.TrimPrefix(pattern, "/"), anyDir: !strings.Contains(pattern, "/")}, nil
}

// Match reports whether the file at name, which has forward slashes, is selected.
func (g Glob) Match(name string) bool {
	if g.anyDir {
		name = path.Base(name)
	}
	return doublestar.MatchUnvalidated(g.pattern, name)
}

func (g Glob) filter(names []string) []string {
	kept := names[:0]
	for _, n := range names {
		if g.Match(n) {
			kept = append(kept, n)
		}
	}
	return kept
}
