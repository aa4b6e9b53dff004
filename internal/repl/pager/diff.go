package pager

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// kind is what a line of a unified diff is.
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

// Diff returns a unified diff of any number of files, in colours.
func Diff(unified string) Doc {
	before, after := 0, 0 // lines of the hunk that are still to come
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

// kindOf tells the lines of hunks from those around them: "--- a" may be either.
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

// ranges reads the numbers of lines of a "@@ -1,2 +3,4 @@" line.
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
