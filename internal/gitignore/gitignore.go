// Package gitignore tells which files git ignores by the .gitignore files of a tree. It
// guarantees that no pattern takes more time than the product of the lengths, and that
// only small regular files are read as rules.
package gitignore

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// MaxFile is the size limit of a .gitignore file in bytes.
const MaxFile = 1 << 20

// Rules holds the rules of one folder's .gitignore file and, through above, those of the
// folders above. A nil *Rules ignores nothing.
type Rules struct {
	above *Rules
	base  string // the folder relative to the searched one, as in "a/b"; "" for itself
	// lead is prepended to a path relative to the searched folder, for rules of folders
	// above that.
	lead  string
	rules []rule
}

// Under returns ig with the .gitignore file of the folder base added. A nested repository
// starts without rules.
func (ig *Rules) Under(base string, data []byte, repository bool) *Rules {
	if repository {
		ig = nil
	}
	if rules := parseIgnore(data); len(rules) > 0 {
		return &Rules{above: ig, base: base, rules: rules}
	}
	return ig
}

// Match reports whether the entry at name, relative to the searched folder, is ignored.
// It must not be called for entries of ignored folders.
func (ig *Rules) Match(name string, isDir bool) bool {
	for ; ig != nil; ig = ig.above {
		rel := ig.lead + name
		if ig.base != "" {
			rel = rel[len(ig.base)+1:]
		}
		for i := len(ig.rules) - 1; i >= 0; i-- {
			if ig.rules[i].match(rel, isDir) {
				return !ig.rules[i].negated
			}
		}
	}
	return false
}

// Above returns the rules of the .gitignore files above dir, up to the top of its
// repository or, outside a repository, up to root. It reads them directly from disk:
// their content is shown to nobody.
func Above(dir, root string) *Rules {
	top := root
	if repo, ok := Repository(dir); ok {
		top = repo
	}
	var folders []string
	for at := dir; at != top; {
		parent := filepath.Dir(at)
		if parent == at {
			return nil // dir is not below top
		}
		folders = append(folders, parent)
		at = parent
	}
	var ig *Rules
	for i := len(folders) - 1; i >= 0; i-- {
		data, err := regularfile.ReadFile(filepath.Join(folders[i], ".gitignore"), MaxFile)
		if err != nil {
			continue // git also continues after an unreadable file
		}
		rules := parseIgnore(data)
		if len(rules) == 0 {
			continue
		}
		rel, err := filepath.Rel(folders[i], dir)
		if err != nil {
			return nil
		}
		ig = &Rules{above: ig, lead: filepath.ToSlash(rel) + "/", rules: rules}
	}
	return ig
}

// Repository returns the top folder of the git repository that holds dir.
func Repository(dir string) (string, bool) {
	for at := dir; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		parent := filepath.Dir(at)
		if parent == at {
			return "", false
		}
		at = parent
	}
}

// Parse returns rules for a tree that a person wrote elsewhere, in the form of a
// .gitignore file at its top.
func Parse(text string) *Rules { return (*Rules)(nil).Under("", []byte(text), false) }

func parseIgnore(data []byte) []rule {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var rules []rule
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if r, ok := parseRule(line); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// rule is a line of a .gitignore file.
type rule struct {
	negated  bool
	dirOnly  bool
	anchored bool     // matched against the whole path, not only the last name
	literal  string   // a pattern without special characters
	segments []string // a pattern with some, split at slashes
}

func parseRule(line string) (rule, bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	var r rule
	if line[0] == '!' {
		r.negated = true
		line = line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirOnly = true
		line = line[:len(line)-1]
	}
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return rule{}, false
	}
	if strings.ContainsAny(line, `*?[\`) {
		r.segments = strings.Split(line, "/")
	} else {
		r.literal = line
	}
	return r, true
}

// trimBlanks removes trailing blanks unless a backslash protects them.
func trimBlanks(line string) string {
	for strings.HasSuffix(line, " ") {
		head := strings.TrimRight(line, " ")
		slashes := len(head) - len(strings.TrimRight(head, `\`))
		if slashes%2 == 1 {
			return head + " "
		}
		line = head
	}
	return line
}

func (r rule) match(name string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if !r.anchored {
		name = path.Base(name)
	}
	if r.literal != "" {
		return name == r.literal
	}
	if len(r.segments) == 1 {
		return !strings.Contains(name, "/") && matchSegment(r.segments[0], name)
	}
	return matchPath(r.segments, strings.Split(name, "/"))
}

// matchPath matches a pattern split at slashes. A segment of two stars matches any
// number of folders, or at the end for at least one name.
func matchPath(pattern, names []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			return matchStars(pattern[1:], names)
		}
		if len(names) == 0 || !matchSegment(pattern[0], names[0]) {
			return false
		}
		pattern, names = pattern[1:], names[1:]
	}
	return len(names) == 0
}

// matchStars matches the pattern after a "**". Only the last "**" has to try every place:
// an earlier one may take as little as possible.
func matchStars(pattern, names []string) bool {
	if len(pattern) == 0 {
		return len(names) > 0
	}
	next := len(pattern)
	for i, p := range pattern {
		if p == "**" {
			next = i
			break
		}
	}
	if next == len(pattern) {
		return len(names) >= len(pattern) && matchPath(pattern, names[len(names)-len(pattern):])
	}
	for i := 0; i+next <= len(names); i++ {
		if matchPath(pattern[:next], names[i:i+next]) {
			return matchStars(pattern[next+1:], names[i+next:])
		}
	}
	return false
}
