package edit

import (
	"fmt"
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
	Stage  Stage // the stage of an ambiguous match
	Lines  []int // of the matches, 1-based; at most ten
	// Nearest lists the most similar parts of the file, best first, as diffs.
	Nearest []string
	// Done is the line that already holds the replacement, or zero.
	Done int
}

// maxMessage is the size of the message of a MatchError in bytes. It leaves room within
// 1,500 bytes for the words of the tool before it.
const maxMessage = 1400

// Error describes the failure and what to do next.
func (e *MatchError) Error() string {
	if e.Places > 1 {
		return fmt.Sprintf("found in %d places (lines %s) by %s: add surrounding lines until it is unique, or set replace_all",
			e.Places, joinInts(e.Lines), e.Stage)
	}
	return e.opening() + strings.Join(e.Nearest, "") + e.advice()
}

func (e *MatchError) opening() string {
	opening := "not found, neither exactly nor with a safe difference.\n"
	if e.Done > 0 {
		opening += fmt.Sprintf("The replacement is already at line %d: this edit may have been made before.\n", e.Done)
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

// noMatch explains why before is not in text, whose lines end in \n.
func noMatch(text, before, after string) *MatchError {
	e := &MatchError{Done: doneAt(text, before, after)}
	s := similarity{have: split(text), want: textLines(before)}
	room := maxMessage - len(e.opening()) - len(e.advice())
	e.Nearest = s.nearest(room)
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
