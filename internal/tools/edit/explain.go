package edit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// MatchError explains why a text was not found, or found too often. Its message tells a
// model what to send instead.
type MatchError struct {
	// Places is the number of matches; more than one is ambiguous.
	Places int
	Stage  Stage // the stage of an ambiguous match
	Lines  []int // of the matches, 1-based; at most ten
	// Nearest lists the most similar parts of the file, with visible blanks.
	Nearest []string
	// Done is the line that already holds the replacement, or zero.
	Done int
}

// Error describes the failure and what to do next.
func (e *MatchError) Error() string {
	if e.Places > 1 {
		return fmt.Sprintf("found in %d places (lines %s) by %s: add surrounding lines until it is unique, or set replace_all",
			e.Places, joinInts(e.Lines), e.Stage)
	}
	var b strings.Builder
	b.WriteString("not found; tried: exact match")
	for s := Blanks; int(s) < stageCount; s++ {
		b.WriteString(", " + s.String())
	}
	b.WriteString(".")
	if e.Done > 0 {
		fmt.Fprintf(&b, "\nThe replacement is already at line %d: this edit may have been made before.", e.Done)
	}
	if len(e.Nearest) > 0 {
		b.WriteString("\nNearest lines of the file (→ is a tab, · a blank):\n")
		b.WriteString(strings.Join(e.Nearest, "--\n"))
	}
	b.WriteString("\nRead the file and send its exact text.")
	return b.String()
}

func joinInts(n []int) string {
	parts := make([]string, len(n))
	for i, v := range n {
		parts[i] = strconv.Itoa(v)
	}
	return strings.Join(parts, ", ")
}

// noMatch explains why before is not in text.
func noMatch(text, before, after string) *MatchError {
	e := &MatchError{Nearest: nearest(split(text), textLines(before))}
	if at := strings.Index(text, after); at >= 0 && strings.TrimSpace(after) != "" {
		e.Done = lineAt(text, at)
	}
	return e
}

// Bounds of the search for similar lines, which must not cost more than the edit.
const (
	nearLines   = 30_000 // lines searched
	nearWidth   = 400    // bytes of a line looked at
	nearShown   = 8      // lines shown of one place
	nearPlaces  = 2
	nearMinimum = 0.5
)

// nearest returns the parts of the file most similar to want, judged by the longest line
// of want.
func nearest(lines []line, want []string) []string {
	anchor, ok := longest(want)
	if !ok {
		return nil
	}
	target := bigrams(want[anchor])
	best := make([]int, 0, nearPlaces)
	scores := make([]float64, 0, nearPlaces)
	for i, l := range lines[:min(len(lines), nearLines)] {
		score := target.likeness(l.text)
		if score < nearMinimum || (len(scores) == nearPlaces && score <= scores[nearPlaces-1]) {
			continue
		}
		best, scores = insertBest(best, scores, i, score)
	}
	var shown []string
	for _, i := range best {
		shown = append(shown, visibleWindow(lines, i-anchor, len(want)))
	}
	return shown
}

func insertBest(best []int, scores []float64, i int, score float64) ([]int, []float64) {
	at := len(scores)
	for at > 0 && scores[at-1] < score {
		at--
	}
	best = append(best[:at], append([]int{i}, best[at:]...)...)
	scores = append(scores[:at], append([]float64{score}, scores[at:]...)...)
	if len(best) > nearPlaces {
		best, scores = best[:nearPlaces], scores[:nearPlaces]
	}
	return best, scores
}

func longest(lines []string) (index int, ok bool) {
	size := 0
	for i, l := range lines {
		if n := len(strings.TrimSpace(l)); n > size {
			index, size = i, n
		}
	}
	return index, size > 0
}

// bigramSet counts the pairs of adjacent characters of a line, ignoring blanks and case.
type bigramSet struct {
	count map[[2]rune]int
	total int
}

func bigrams(s string) bigramSet {
	set := bigramSet{count: map[[2]rune]int{}}
	eachBigram(s, func(p [2]rune) {
		set.count[p]++
		set.total++
	})
	return set
}

func eachBigram(s string, f func([2]rune)) {
	prev := rune(' ')
	for _, r := range s[:min(len(s), nearWidth)] {
		if unicode.IsSpace(r) {
			continue
		}
		r = unicode.ToLower(r)
		f([2]rune{prev, r})
		prev = r
	}
}

// likeness returns Dice's coefficient of the two sets, from 0 to 1.
func (b bigramSet) likeness(s string) float64 {
	seen := make(map[[2]rune]int, 16)
	shared, total := 0, 0
	eachBigram(s, func(p [2]rune) {
		total++
		if seen[p] < b.count[p] {
			seen[p]++
			shared++
		}
	})
	if total == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(b.total+total)
}

// visibleWindow formats count lines from index on, numbered.
func visibleWindow(lines []line, index, count int) string {
	start := max(index, 0)
	end := min(max(index+count, start+1), len(lines), start+nearShown)
	var b strings.Builder
	for i := start; i < end; i++ {
		fmt.Fprintf(&b, "%d | %s\n", i+1, Visible(lines[i].text))
	}
	return b.String()
}

// Visible returns s with tabs as →, blanks at both ends as ·, and other blanks and
// invisible characters escaped.
func Visible(s string) string {
	s = s[:min(len(s), nearWidth)]
	lead := len(s) - len(strings.TrimLeft(s, " \t"))
	trail := len(strings.TrimRight(s, " \t\r"))
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\t':
			b.WriteString("→")
		case r == ' ' && (i < lead || i >= trail):
			b.WriteString("·")
		case r == '\r':
			b.WriteString(`\r`)
		case r != ' ' && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
