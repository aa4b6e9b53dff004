package commands

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// gaugePart is something in the context.
type gaugePart struct {
	Name   string // of at most 13 columns
	Tokens int64
}

const (
	nameWidth = 13
	barWidth  = 12
	wholeBar  = 40
)

// drawGauge draws parts in a window of so many tokens, of which so many are used. Parts
// that are empty are left out; they are estimates, and drawn so that they add up to
// used. A window or a use of zero is not known.
func drawGauge(window, used int64, parts []gaugePart) string {
	parts, used = fitted(parts, used)
	whole := max(window, used, 1)
	var b strings.Builder
	if window > 0 {
		fmt.Fprintf(&b, "About %s of %s tokens (%d %%)\n", groupedCount(used), groupedCount(window), used*100/window)
		b.WriteString(bar(used, whole, wholeBar) + "\n\n")
		parts = append(parts, gaugePart{"Free", max(0, window-used)})
	} else {
		fmt.Fprintf(&b, "About %s tokens\n(the model's window is not known)\n\n", groupedCount(used))
	}
	for _, p := range parts {
		if p.Tokens > 0 {
			fmt.Fprintf(&b, "%-*s %s %8s %3d%%\n", nameWidth, p.Name, bar(p.Tokens, whole, barWidth), shortCount(p.Tokens), (p.Tokens*100+whole/2)/whole)
		}
	}
	return b.String()
}

// fitted returns parts with the same shares that add up to used, or as they are where
// that is not known.
func fitted(parts []gaugePart, used int64) ([]gaugePart, int64) {
	out := slices.Clone(parts)
	sum, most := int64(0), 0
	for i, p := range parts {
		sum += p.Tokens
		if p.Tokens > parts[most].Tokens {
			most = i
		}
	}
	if used == 0 || sum == 0 {
		return out, sum
	}
	left := used
	for i := range out {
		out[i].Tokens = int64(math.Round(float64(out[i].Tokens) * float64(used) / float64(sum)))
		left -= out[i].Tokens
	}
	out[most].Tokens += left // what was lost to rounding
	return out, used
}

// bar is part of whole as a bar of so many columns; what is not nothing shows.
func bar(part, whole int64, width int) string {
	eighths := int(part * int64(width) * 8 / whole)
	if part > 0 {
		eighths = max(eighths, 1)
	}
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s + strings.Repeat("░", width-(eighths+7)/8)
}

// shortCount is n in at most 7 columns.
func shortCount(n int64) string {
	if n < 1_000_000 {
		return groupedCount(n)
	}
	return fmt.Sprintf("%.2fM", float64(n)/1e6)
}

// groupedCount is n with its thousands apart.
func groupedCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
