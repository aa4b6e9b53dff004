package edit

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// span is a range of a text and its replacement.
type span struct {
	from, to int
	text     string
}

// splice returns text with the spans, given in order, replaced.
func splice(text string, spans []span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.from])
		b.WriteString(s.text)
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// common returns the lengths of the longest common prefix of a and b and, in the rest, of
// the longest common suffix, at character borders.
func common(a, b string) (head, tail int) {
	limit := min(len(a), len(b))
	for head < limit && a[head] == b[head] {
		head++
	}
	for head > 0 && head < len(a) && !utf8.RuneStart(a[head]) {
		head--
	}
	for tail < limit-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(a[len(a)-tail]) {
		tail--
	}
	return head, tail
}

// lineAt returns the 1-based line of the byte at offset.
func lineAt(text string, offset int) int {
	return 1 + strings.Count(text[:offset], "\n")
}

// linesOf returns the lines of the edits, without duplicates.
func linesOf(text string, found []match) []int {
	var lines []int
	for _, m := range found {
		lines = append(lines, lineAt(text, m.first()))
		if len(lines) == maxPlaces {
			break
		}
	}
	return slices.Compact(lines)
}

// maxPlaces is the number of places that the error for an ambiguous match lists.
const maxPlaces = 10
