package edit

import (
	"fmt"
	"strings"
)

// Whole returns content as the whole new text of a file that holds before:
// in the file's line ending, where lines that both share at the beginning and
// the end keep their own.
func Whole(before, content, eol string) string {
	if before == "" || eol == "" {
		return content
	}
	have, want := split(before), split(content)
	head, tail := 0, 0
	limit := min(len(have), len(want))
	for head < limit && sameLine(have[head], want[head]) {
		head++
	}
	for tail < limit-head && sameLine(have[len(have)-1-tail], want[len(want)-1-tail]) {
		tail++
	}
	from, to := bounds(have, head, len(have)-tail, len(before))
	fillFrom, fillTo := bounds(want, head, len(want)-tail, len(content))
	return before[:from] + withEOL(content[fillFrom:fillTo], eol) + before[to:]
}

// sameLine reports whether two lines differ at most in their kind of ending.
func sameLine(a, b line) bool {
	return a.text == b.text && (a.eol == "") == (b.eol == "")
}

// bounds returns the bytes of lines[from:to] in a text of the given size.
func bounds(lines []line, from, to, size int) (start, end int) {
	start, end = size, size
	if from < len(lines) {
		start = lines[from].from
	}
	if to < len(lines) {
		end = lines[to].from
	}
	return start, end
}

// Lines puts content in the place of lines first to last of text, 1-based and
// inclusive. Empty content deletes them; with last one below first, content is
// inserted before first.
func Lines(text string, first, last int, content, eol string) (Outcome, error) {
	lines := split(text)
	total := len(lines)
	switch {
	case first < 1 || first > total+1:
		return Outcome{}, fmt.Errorf("start_line is %d, but the file has lines 1 to %d", first, total)
	case last < first-1 || last > total:
		return Outcome{}, fmt.Errorf("end_line is %d: it has to be between %d and %d, the file's last line", last, first-1, total)
	}
	s := lineSpan(text, lines, first-1, last, textLines(content), eol)
	return Outcome{Text: splice(text, []span{s}), Places: 1, Line: first}, nil
}

// Append returns text with content behind it. With newline set, content begins
// on a line of its own and ends with a line ending.
func Append(text, content, eol string, newline bool) string {
	if eol == "" {
		eol = "\n"
	}
	if text != "" {
		content = withEOL(content, eol)
	}
	if !newline {
		return text + content
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += eol
	}
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += eol
	}
	return text + content
}
