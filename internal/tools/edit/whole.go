package edit

import (
	"fmt"
	"strings"
)

// Whole returns content as the new text of a file that holds before, with the file's line
// ending; unchanged lines keep their own.
func Whole(before, content, eol string) string {
	if before == "" {
		return content
	}
	src := newSource(before, eol)
	return src.rewrite(src.sent(content))
}

// WithEOL returns content with eol as every line ending.
func WithEOL(content, eol string) string {
	src := newSource("", eol)
	return withEOL(src.sent(content), src.eol)
}

// Lines replaces lines first to last of text, 1-based and inclusive, by content. Empty
// content deletes them; if last is first-1, content is inserted before first.
func Lines(text string, first, last int, content, eol string) (Result, error) {
	src := newSource(text, eol)
	lines := split(src.flat)
	total := len(lines)
	switch {
	case first < 1 || first > total+1:
		return Result{}, fmt.Errorf("start_line is %d, but the file has lines 1 to %d", first, total)
	case last < first-1 || last > total:
		return Result{}, fmt.Errorf("end_line is %d: it has to be between %d and %d, the file's last line", last, first-1, total)
	}
	s := lineSpan(src.flat, lines, first-1, last, textLines(src.sent(content)))
	return Result{Text: src.replace([]span{s}), Places: 1, Line: first}, nil
}

// Append appends content to text. With newline set, content starts on a new line and ends
// with a line ending.
func Append(text, content, eol string, newline bool) string {
	src := newSource(text, eol)
	if text != "" {
		content = src.sent(content)
	}
	if newline && src.flat != "" && !strings.HasSuffix(src.flat, "\n") {
		content = "\n" + content
	}
	if newline && content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	if text == "" {
		return content
	}
	return src.replace([]span{{len(src.flat), len(src.flat), content}})
}
