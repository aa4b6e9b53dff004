package repl

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// styles are the few colours of the program; the zero value has none.
type styles struct {
	dim, accent, good, bad, warn, user lipgloss.Style
}

// newStyles returns the styles for a background. Without colour, what matters is
// still told apart by its words.
func newStyles(dark, noColor bool) styles {
	if noColor {
		plain := lipgloss.NewStyle()
		return styles{plain, plain, plain, plain, plain, plain}
	}
	pick := lipgloss.LightDark(dark)
	fg := func(light, dark string) lipgloss.Style {
		return lipgloss.NewStyle().Foreground(pick(hex(light), hex(dark)))
	}
	return styles{
		dim:    fg("#6b7280", "#8b949e"),
		accent: fg("#0550ae", "#79c0ff"),
		good:   fg("#116329", "#7ee787"),
		bad:    fg("#a40e26", "#ff7b72"),
		warn:   fg("#7d4e00", "#e3b341"),
		user:   fg("#24292f", "#e6edf3").Bold(true),
	}
}

func hex(s string) color.Color { return lipgloss.Color(s) }

// paint styles a line; an empty one stays empty.
func paint(s lipgloss.Style, line string) string {
	if line == "" {
		return ""
	}
	return s.Render(line)
}

// wrap cuts text into lines of at most width columns, each behind prefix.
func wrap(text, prefix string, width int) []string {
	room := max(10, width-ansi.StringWidth(prefix))
	lines := strings.Split(ansi.Wrap(text, room, ""), "\n")
	for i, l := range lines {
		lines[i] = prefix + l
	}
	return lines
}

// short cuts a line to width columns.
func short(line string, width int) string { return ansi.Truncate(line, max(1, width), "…") }

// seconds says how long something took, as a person would.
func seconds(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	default:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// count shortens a number of tokens: 950, 12.3k, 1.2M.
func count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	default:
		return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
	}
}
