package gitignore

import "strings"

// matchSegment matches one name against a shell pattern as git does: * ? [a-z] [!a]
// [[:digit:]] and \ before a special character. It compares bytes. Its cost is at most
// the product of the lengths.
func matchSegment(pattern, name string) bool {
	p, n := 0, 0
	starP, starN := -1, 0
	for n < len(name) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				starP, starN = p, n
				p++
				continue
			}
			if size, ok := matchOne(pattern[p:], name[n]); ok {
				p += size
				n++
				continue
			}
		}
		if starP < 0 {
			return false
		}
		starN++
		p, n = starP+1, starN
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne matches one byte against the first element of pattern and returns that
// element's size.
func matchOne(pattern string, c byte) (size int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchClass(pattern, c)
	case '\\':
		return 2, len(pattern) > 1 && pattern[1] == c
	}
	return 1, pattern[0] == c
}

// matchClass matches c against the bracket expression at the start of pattern. An
// unclosed expression matches nothing.
func matchClass(pattern string, c byte) (size int, ok bool) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	found := false
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, found != negated
		}
		if name, ok := className(pattern[i:]); ok {
			found = found || inClass(name, c)
			i += len(name) + len("[::]")
			continue
		}
		low, next := classByte(pattern, i)
		high := low
		if next+1 < len(pattern) && pattern[next] == '-' && pattern[next+1] != ']' {
			high, next = classByte(pattern, next+1)
		}
		found = found || (low <= c && c <= high)
		i = next
	}
	return 0, false
}

// classByte reads one byte of a bracket expression at i.
func classByte(pattern string, i int) (c byte, next int) {
	if pattern[i] == '\\' && i+1 < len(pattern) {
		i++
	}
	return pattern[i], i + 1
}

// className returns the name in [:name:].
func className(s string) (string, bool) {
	rest, ok := strings.CutPrefix(s, "[:")
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(rest, ":]")
	return name, ok
}

// classes maps named classes to pairs of first and last byte.
var classes = map[string]string{
	"alpha": "AZaz", "digit": "09", "alnum": "09AZaz", "lower": "az", "upper": "AZ", "xdigit": "09AFaf",
	"space": "\t\r  ", "blank": "\t\t  ", "punct": "!/:@[`{~", "graph": "!~", "print": " ~", "cntrl": "\x00\x1f\x7f\x7f",
}

func inClass(name string, c byte) bool {
	ranges := classes[name]
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= c && c <= ranges[i+1] {
			return true
		}
	}
	return false
}
