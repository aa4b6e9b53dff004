// Package theme is what drawing depends on: the size of the terminal and the few
// styles of the program. It guarantees that without colours no escape sequence is
// written, and that the colours of a theme can be read on the backgrounds that it is
// made for.
package theme

import (
	"fmt"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// Style is one of them.
type Style = lipgloss.Style

// Styles are the few styles of the program; the zero value has none.
type Styles struct {
	Dim, Accent, Good, Bad, Warn, User Style
}

// Look is what drawing depends on. The styles are the same in every theme: it is the
// screen that puts the theme's colours in (see Palette).
type Look struct {
	Width, Height int // cells
	Theme         string
	Dark          bool // the terminal's background, as far as it is known
	NoColor       bool
	Tint          bool // lines of a diff have a background of their own
	Styles        Styles
	Keys          Keys
}

// Keys are those that finished text names, as people read them; one that is empty is
// not named.
type Keys struct {
	Whole string // shows what was folded
	Older string // brings back what was said before
	Send  string
}

// Wrapped is said below code with lines that are wider than the terminal: selected
// with the mouse, it would be copied with breaks that it does not have.
const Wrapped = "wrapped to fit · /copy N copies the answer's Nth block whole"

// New returns the look of a terminal. Without colour, what matters is still told
// apart by its words.
func New(theme string, noColor bool) Look {
	if noColor || theme == None {
		return Look{Theme: theme, Dark: true, NoColor: true}
	}
	fg := func(c paint.Color) Style { return lipgloss.NewStyle().Foreground(ansi.BasicColor(c.Slot())) }
	return Look{Theme: theme, Dark: true, Styles: Styles{
		Dim:    fg(paint.Dim),
		Accent: fg(paint.Accent),
		Good:   fg(paint.Good),
		Bad:    fg(paint.Bad),
		Warn:   fg(paint.Warn),
		User:   fg(paint.Strong).Bold(true),
	}}
}

// Paint styles a line; an empty one stays empty.
func Paint(s Style, line string) string {
	if line == "" {
		return ""
	}
	return s.Render(line)
}

// Short cuts a line to width columns.
func Short(line string, width int) string { return ansi.Truncate(line, max(1, width), "…") }

// Seconds says how long something took, as a person would.
func Seconds(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	default:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// Count shortens a number of tokens: 950, 12.3k, 1.2M.
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
