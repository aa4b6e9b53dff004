package commands

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// share is a part of the context.
type share struct {
	Name   string // of at most 13 columns
	Tokens int64
}

const (
	barWidth = 10
	wholeBar = 40
)

// drawChart draws the parts of a context of which used of window tokens are filled.
// Empty parts are left out. Parts are estimates, scaled to add up to used. A zero means
// that window or used is unknown.
func drawChart(window, used int64, parts []share) string {
	parts, used = fitted(parts, used)
	whole := max(window, used, 1)
	var b strings.Builder
	if window > 0 {
		fmt.Fprintf(&b, "About %s of %s tokens (%d %%)\n", plural.Grouped(used), plural.Grouped(window), used*100/window)
		b.WriteString(theme.Bar(used, whole, wholeBar) + "\n\n")
		parts = append(parts, share{"Free", max(0, window-used)})
	} else {
		fmt.Fprintf(&b, "About %s tokens\n(the model's window is unknown)\n\n", plural.Grouped(used))
	}
	var rows [][]string
	for _, p := range parts {
		if p.Tokens > 0 {
			rows = append(rows, []string{p.Name, theme.Bar(p.Tokens, whole, barWidth), shortCount(p.Tokens), fmt.Sprintf("%d%%", (p.Tokens*100+whole/2)/whole)})
		}
	}
	return b.String() + strings.Join(theme.Table(rows, 2, 3), "\n") + "\n"
}

// fitted scales parts to add up to used. If used is unknown it returns parts and their
// sum.
func fitted(parts []share, used int64) ([]share, int64) {
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
	out[most].Tokens += left // the rest of rounding
	return out, used
}

// shortCount formats n in at most 7 columns.
func shortCount(n int64) string {
	if n < 1_000_000 {
		return plural.Grouped(n)
	}
	return fmt.Sprintf("%.2fM", float64(n)/1e6)
}
