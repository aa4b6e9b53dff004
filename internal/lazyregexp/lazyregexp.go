// Package lazyregexp has regular expressions that are compiled when they are first used, so
// that a start does not wait for all of them. In tests New compiles them at once, which
// finds the faulty ones.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regexp.Regexp with the methods that are needed. It is safe for concurrent use. The
// zero value matches no string.
type Regexp struct{ compiled func() *regexp.Regexp }

// New returns the expression, which must be a constant of the program. A faulty one panics
// when it is first used; in a test, New panics.
func New(expr string) Regexp {
	r := Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
	if len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		r.compiled()
	}
	return r
}

// MatchString is regexp.Regexp.MatchString.
func (r Regexp) MatchString(s string) bool { return r.compiled != nil && r.compiled().MatchString(s) }

// Match is regexp.Regexp.Match.
func (r Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// FindStringIndex is regexp.Regexp.FindStringIndex.
func (r Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch is regexp.Regexp.FindStringSubmatch.
func (r Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is regexp.Regexp.FindStringSubmatchIndex.
func (r Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllStringSubmatch is regexp.Regexp.FindAllStringSubmatch.
func (r Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// Split is regexp.Regexp.Split.
func (r Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }

// ReplaceAllString is regexp.Regexp.ReplaceAllString.
func (r Regexp) ReplaceAllString(s, repl string) string {
	return r.compiled().ReplaceAllString(s, repl)
}

// ReplaceAllStringFunc is regexp.Regexp.ReplaceAllStringFunc.
func (r Regexp) ReplaceAllStringFunc(s string, repl func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, repl)
}

// IsZero reports whether r is the zero value.
func (r Regexp) IsZero() bool { return r.compiled == nil }
