// Package theme describes how to draw: the size of the terminal and the styles of the
// program. It guarantees that nothing writes an escape sequence without colors, and that the
// colors of a theme are readable on its backgrounds.
package theme

import (
	"fmt"
	"time"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// Look is all that drawing depends on. Its styles are the same in every theme: the screen
// substitutes the theme's colors (see Palette).
type Look struct {
	Width, Height int // cells
	Theme         string
	Dark          bool // the terminal's background, as far as known
	NoColor       bool
	Tint          bool // lines of a diff have background colors
	Styles        Styles
	Keys          Keys
}

// Keys are the keys that printed text names, in readable form; empty ones are not mentioned.
type Keys struct {
	Whole string // shows folded text
	Older string // recalls an earlier prompt
	Send  string
}

// Wrapped is the remark below code with lines wider than the terminal: copied with the mouse,
// it would have line breaks that are not in the code.
const Wrapped = "wrapped to fit · /copy N copies the answer's Nth block whole"

// New returns the look of a terminal. Without colors, words carry the differences that
// matter.
func New(theme string, noColor bool) Look {
	if noColor || theme == None {
		return Look{Theme: theme, Dark: true, NoColor: true}
	}
	return Look{Theme: theme, Dark: true, Styles: lineStyles()}
}

// Paint styles a line; an empty line stays empty.
func Paint(s Style, line string) string {
	if line == "" {
		return ""
	}
	return s.Render(line)
}

// Short truncates a line to width columns.
func Short(line string, width int) string { return cells.Truncate(line, max(1, width), "…") }

// Seconds formats a duration for people.
func Seconds(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	default:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// Count abbreviates a number of tokens: 950, 12.3k, 1.2M.
func Count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	default:
		return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
	}
}
