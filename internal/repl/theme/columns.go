package theme

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// Columns lays out pairs of texts behind an indent, no line wider than width: the second text
// wraps beside the first, or below it if the first is too long.
func Columns(rows [][2]string, indent string, width int) []string {
	room := max(20, width-cells.Width(indent))
	left := 0
	for _, r := range rows {
		if w := cells.Width(r[0]) + 2; w <= room*2/5 {
			left = max(left, w)
		}
	}
	if left == 0 {
		left = 4
	}
	var out []string
	for _, r := range rows {
		beside := wrap(r[1], room-left)
		first := r[0]
		if w := cells.Width(first); w+2 > left {
			out = append(out, indent+cells.Truncate(first, room, "…"))
			first = ""
		}
		for _, l := range beside {
			out = append(out, strings.TrimRight(indent+first+strings.Repeat(" ", left-cells.Width(first))+l, " "))
			first = ""
		}
	}
	return out
}
