package diffview

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// Summarize renders the unified diff of a committed change, with its title separate. If the
// diff cannot be parsed, it returns only the title.
func Summarize(name, unified string, o Options) (title, lines []string) {
	o.Layout = Unified
	f := parseFile(unified)
	body := f.body(name, o)
	body.layout(o)
	added, removed := f.Counts()
	return titleLine(f.verb(), name, added, removed, nil, o), body.summary(o)
}

// parseUnified returns the hunks of a unified diff, as far as it can be parsed.
func parseUnified(unified string) []diff.Hunk {
	var hunks []diff.Hunk
	for line := range strings.Lines(unified) {
		if h, ok := parseHunkHeader(line); ok {
			hunks = append(hunks, h)
			continue
		}
		if len(hunks) == 0 || line == "\n" {
			continue
		}
		addLine(&hunks[len(hunks)-1], line)
	}
	return hunks
}

func parseHunkHeader(line string) (diff.Hunk, bool) {
	var h diff.Hunk
	head, rest, ok := strings.Cut(strings.TrimPrefix(line, "@@ -"), " +")
	if !ok || !strings.HasPrefix(line, "@@ -") {
		return h, false
	}
	tail, _, ok := strings.Cut(rest, " @@")
	if !ok {
		return h, false
	}
	a, _, okA := parseRange(head)
	b, _, okB := parseRange(tail)
	h.AStart, h.BStart = a, b
	return h, okA && okB
}

// parseRange parses "start,count" and returns the 0-based start.
func parseRange(s string) (start, n int, ok bool) {
	n = 1
	if _, err := fmt.Sscanf(s, "%d,%d", &start, &n); err != nil {
		if _, err := fmt.Sscanf(s, "%d", &start); err != nil {
			return 0, 0, false
		}
	}
	if n > 0 {
		start--
	}
	return max(start, 0), n, true
}

// addLine appends a line of a unified diff to its hunk.
func addLine(h *diff.Hunk, line string) {
	l := diff.Line{Text: line[1:]}
	switch line[0] {
	case ' ':
		h.ACount++
		h.BCount++
		l.A, l.B = h.AStart+h.ACount, h.BStart+h.BCount
	case '-':
		h.ACount++
		l.Op, l.A = diff.Delete, h.AStart+h.ACount
	case '+':
		h.BCount++
		l.Op, l.B = diff.Insert, h.BStart+h.BCount
	case '\\':
		if n := len(h.Lines); n > 0 {
			h.Lines[n-1].Text = strings.TrimSuffix(h.Lines[n-1].Text, "\n")
		}
		return
	default:
		return
	}
	h.Lines = append(h.Lines, l)
}
