package edit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MatchError explains why a text was not found, or found too often. Its message tells a
// model what to send instead.
type MatchError struct {
	// Places is the number of matches; more than one is ambiguous.
	Places int
	Stage  Stage  // the stage of an ambiguous match
	Lines  []int  // of the matches, 1-based; at most ten
	Around string // the lines around them
	// Nearest lists the most similar parts of the file, best first, as diffs.
	Nearest []string
	// Read is the stage at which the text sent was read to find them.
	Read Stage
	// Joins is the line that the edit of the only place would join by mistake to the text before
	// it, or zero; with AtStart, to the text after it.
	Joins   int
	AtStart bool
	// Done is the line that already holds the replacement, or zero.
	Done int
}

// Bounds of the message of a MatchError in bytes.
const (
	maxDiff    = 1400 // leaves room within 1,500 bytes for the words of the tool before it
	maxMessage = 4000 // with the exact text of a place whose diff is longer than maxDiff
)

// Error describes the failure and what to do next.
func (e *MatchError) Error() string {
	if e.Places > 1 {
		all := ", or set replace_all"
		if e.Stage.single() {
			all = ""
		}
		return fmt.Sprintf("found in %d places (lines %s) by %s: add surrounding lines until it is unique%s.%s",
			e.Places, joinInts(e.Lines), e.Stage, all, e.Around)
	}
	if e.Joins > 0 {
		return e.joins()
	}
	return e.opening() + strings.Join(e.Nearest, "") + e.advice()
}

// joins explains an edit that would join two lines.
func (e *MatchError) joins() string {
	at, verb, joined := "end", "end", "before"
	if e.AtStart {
		at, verb, joined = "beginning", "begin", "after"
	}
	return fmt.Sprintf("found at line %d, but new_string lacks the line ending at the %s of old_string: the edit would join line %d to the text %s it. "+
		"Leave that line ending out of old_string, or %s new_string with one; to join the lines, send text of both.",
		e.Lines[0], at, e.Joins, joined, verb)
}

func (e *MatchError) opening() string {
	opening := "not found, neither exactly nor with a safe difference.\n"
	if e.Done > 0 {
		opening += fmt.Sprintf("The replacement is already at line %d: this edit may have been made before.\n", e.Done)
	}
	if e.Read != Exact {
		opening += fmt.Sprintf("Compared after %s:\n", e.Read)
	}
	return opening
}

func (e *MatchError) advice() string {
	if len(e.Nearest) > 0 {
		return "Send the file's exact text."
	}
	return "Read the file and send its exact text."
}

func joinInts(n []int) string {
	parts := make([]string, len(n))
	for i, v := range n {
		parts[i] = strconv.Itoa(v)
	}
	return strings.Join(parts, ", ")
}

// several explains that a text was found in several places.
func several(text string, found []match, stage Stage) *MatchError {
	e := &MatchError{Stage: stage, Lines: linesOf(text, found), Places: len(found)}
	var places []region
	for _, m := range found[:min(len(found), maxPlaces)] {
		places = append(places, region{lineAt(text, m.from) - 1, lineAt(text, max(m.from, m.to-1))})
	}
	e.Around = around(split(text), slices.Compact(places), maxDiff-len(e.Error()))
	return e
}

// joining returns the error for the exact place m, whose edit joins lines of text.
func (m match) joining(text, before, after string) *MatchError {
	e := &MatchError{Places: 1, Stage: Exact, Lines: []int{lineAt(text, m.from)}}
	if e.AtStart, _ = m.joins(text, before, after); e.AtStart {
		e.Joins = e.Lines[0]
	} else {
		e.Joins = lineAt(text, m.to)
	}
	return e
}

// noMatch explains why before is not in text, whose lines end in \n.
func noMatch(text, before, after string) *MatchError {
	e := &MatchError{Done: doneAt(text, before, after)}
	s := newSimilarity(text, before)
	for _, stage := range []Stage{Numbers, Escapes} {
		for _, r := range readings(before, before, stage) {
			if other := newSimilarity(text, r.before); other.best() > s.best() {
				s, e.Read = other, stage
			}
		}
	}
	e.Nearest = s.nearest(maxDiff - len(e.opening()) - len(e.advice()))
	return e
}

// doneAt returns the line of text that holds after, if the edit may have been made
// before, or zero. A deletion proves nothing: the rest was there anyway.
func doneAt(text, before, after string) int {
	if strings.TrimSpace(after) == "" || isDeletion(before, after) {
		return 0
	}
	for _, at := range indexAll(text, after, true) {
		if wordBorder(text, at) && wordBorder(text, at+len(after)) {
			return lineAt(text, at)
		}
	}
	return 0
}

// isDeletion reports whether after is before with something taken out: one range of
// bytes, or whole lines.
func isDeletion(before, after string) bool {
	before, after = strings.TrimSpace(before), strings.TrimSpace(after)
	if head, tail := common(before, after); head+tail == len(after) {
		return true
	}
	rest := textLines(before)
	for _, l := range textLines(after) {
		l = strings.TrimSpace(l)
		for len(rest) > 0 && strings.TrimSpace(rest[0]) != l {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return false
		}
		rest = rest[1:]
	}
	return true
}

// wordBorder reports whether text may be cut at the byte at without cutting a word.
func wordBorder(text string, at int) bool {
	left, _ := utf8.DecodeLastRuneInString(text[:at])
	right, _ := utf8.DecodeRuneInString(text[at:])
	return !isWord(left) || !isWord(right)
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// Visible returns s with tabs as →, blanks at both ends as ·, and other blanks and
// invisible characters escaped.
func Visible(s string) string {
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
