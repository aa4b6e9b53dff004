package pager

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// kind distinguishes the lines of a unified diff.
type kind uint8

const (
	context kind = iota
	header
	position
	added
	removed
)

func (k kind) style(st theme.Styles) theme.Style {
	switch k {
	case header:
		return st.User
	case position:
		return st.Accent
	case added:
		return st.Good
	case removed:
		return st.Bad
	case context:
	}
	return theme.Style{}
}

// Diff returns a unified diff of one or more files, in color.
func Diff(unified string) Doc {
	before, after := 0, 0 // remaining lines of the hunk
	return newLines(unified, func(line string) kind {
		k := kindOf(line, before > 0 || after > 0)
		switch k {
		case position:
			before, after = ranges(line)
		case added:
			after--
		case removed:
			before--
		case context:
			if !strings.HasPrefix(line, `\`) {
				before, after = before-1, after-1
			}
		case header:
		}
		return k
	})
}

// kindOf classifies a line: "--- a" means something else inside a hunk.
func kindOf(line string, inHunk bool) kind {
	switch {
	case strings.HasPrefix(line, `\`):
		return context
	case inHunk && strings.HasPrefix(line, "+"):
		return added
	case inHunk && strings.HasPrefix(line, "-"):
		return removed
	case inHunk:
		return context
	case strings.HasPrefix(line, "@@"):
		return position
	case line == "":
		return context
	}
	return header
}

// ranges parses the line counts of a "@@ -1,2 +3,4 @@" line.
func ranges(line string) (before, after int) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return 0, 0
	}
	return count(fields[1]), count(fields[2])
}

func count(field string) int {
	_, n, found := strings.Cut(field, ",")
	if !found {
		return 1
	}
	var lines int
	if _, err := fmt.Sscan(n, &lines); err != nil {
		return 0
	}
	return lines
}
