package paint

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// TabStop is the distance of tab stops in code, in columns.
const TabStop = 4

// WidthOf returns the number of columns of spans in a terminal.
func WidthOf(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += cells.Width(s.Text)
	}
	return n
}

// ExpandTabs replaces the tabs of s, which starts at column 0, with blanks.
func ExpandTabs(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	col := 0
	for {
		i := strings.IndexByte(s, '\t')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		col += cells.Width(s[:i])
		n := TabStop - col%TabStop
		b.WriteString("    "[:n])
		col += n
		s = s[i+1:]
	}
}
