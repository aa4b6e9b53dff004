// Package theme is what drawing depends on: the size of the terminal, its
// background and the few colours of the program. It guarantees that without colours
// no escape sequence is written.
package theme

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Style is one of them.
type Style = lipgloss.Style

// Styles are the few colours of the program; the zero value has none.
type Styles struct {
	Dim, Accent, Good, Bad, Warn, User Style
}

// Look is what drawing depends on.
type Look struct {
	Width, Height int // cells
	Dark, NoColor bool
	Styles        Styles
}

// New returns the look of a terminal with a dark or light background.
func New(dark, noColor bool) Look {
	return Look{Dark: dark, NoColor: noColor, Styles: newStyles(dark, noColor)}
}

// On returns l for another background.
func (l Look) On(dark bool) Look {
	l.Dark, l.Styles = dark, newStyles(dark, l.NoColor)
	return l
}

// newStyles returns the styles for a background. Without colour, what matters is
// still told apart by its words.
func newStyles(dark, noColor bool) Styles {
	if noColor {
		plain := lipgloss.NewStyle()
		return Styles{plain, plain, plain, plain, plain, plain}
	}
	pick := lipgloss.LightDark(dark)
	fg := func(light, dark string) lipgloss.Style {
		return lipgloss.NewStyle().Foreground(pick(hex(light), hex(dark)))
	}
	return Styles{
		Dim:    fg("#6b7280", "#8b949e"),
		Accent: fg("#0550ae", "#79c0ff"),
		Good:   fg("#116329", "#7ee787"),
		Bad:    fg("#a40e26", "#ff7b72"),
		Warn:   fg("#7d4e00", "#e3b341"),
		User:   fg("#24292f", "#e6edf3").Bold(true),
	}
}

func hex(s string) color.Color { return lipgloss.Color(s) }

// Paint styles a line; an empty one stays empty.
func Paint(s lipgloss.Style, line string) string {
	if line == "" {
		return ""
	}
	return s.Render(line)
}

// Wrap cuts text into lines of at most width columns, each behind prefix.
func Wrap(text, prefix string, width int) []string {
	room := max(10, width-ansi.StringWidth(prefix))
	lines := strings.Split(ansi.Wrap(text, room, ""), "\n")
	for i, l := range lines {
		lines[i] = prefix + l
	}
	return lines
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
