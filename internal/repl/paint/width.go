package paint

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// TabStop is the distance of tab stops in code, in columns.
const TabStop = 4

// WidthOf returns the number of columns of spans in a terminal.
func WidthOf(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += Width(s.Text)
	}
	return n
}

// Width returns the number of columns of s in a terminal.
func Width(s string) int {
	if asciiLen(s) == len(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

func spansWidth(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += Width(s.Text)
	}
	return n
}

// asciiLen returns the length of the longest ASCII prefix of s.
func asciiLen(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}

// Fit returns the length of the longest prefix of s that is at most width columns wide, and
// its width. It never splits a character or separates it from its combining marks.
func Fit(s string, width int) (n, cols int) {
	if width < 0 {
		return 0, 0
	}
	if len(s) <= width && asciiLen(s) == len(s) {
		return len(s), len(s)
	}
	for n < len(s) {
		size, w := firstGrapheme(s[n:])
		if cols+w > width {
			break
		}
		n += size
		cols += w
	}
	return n, cols
}

// firstGrapheme returns the size in bytes and the width of the first user-perceived character
// of s.
func firstGrapheme(s string) (size, width int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, 1
	}
	cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(cluster), w
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
		col += Width(s[:i])
		n := TabStop - col%TabStop
		b.WriteString("    "[:n])
		col += n
		s = s[i+1:]
	}
}
