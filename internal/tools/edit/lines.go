package edit

import (
	"slices"
	"strings"
)

// line is a line of a text: its content, and its bytes [from, to) including the line
// ending, which a last line may lack.
type line struct {
	text     string
	eol      string
	from, to int
}

// split splits text into lines. There is no empty line after a final line ending.
func split(text string) []line {
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	for from := 0; from < len(text); {
		to, eol := len(text), ""
		if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
			to, eol = from+i+1, "\n"
			if i > 0 && text[to-2] == '\r' {
				eol = "\r\n"
			}
		}
		lines = append(lines, line{text[from : to-len(eol)], eol, from, to})
		from = to
	}
	return lines
}

// textLines splits s into lines without their line endings.
func textLines(s string) []string {
	var out []string
	for _, l := range split(s) {
		out = append(out, l.text)
	}
	return out
}

// windows returns the indexes at which want matches consecutive lines at stage, and for
// Indentation, Tabs and Uneven the shift of each.
func windows(lines []line, want []string, stage Stage) (at []int, shifts []shift) {
	if len(want) == 0 || len(want) > len(lines) {
		return nil, nil
	}
	switch stage {
	case Indentation:
		return shiftedWindows(lines, want)
	case Tabs:
		return tabWindows(lines, want)
	case Uneven:
		return unevenWindows(lines, want)
	}
	keys := make([]string, len(want))
	for i, w := range want {
		keys[i] = lineKey(w, stage)
	}
	have := make([]string, len(lines))
	for i, l := range lines {
		have[i] = lineKey(l.text, stage)
	}
	for i := 0; i+len(keys) <= len(have); i++ {
		if slices.Equal(have[i:i+len(keys)], keys) {
			at = append(at, i)
		}
	}
	return at, make([]shift, len(at))
}

// lineKey returns a line without its ending in the form that stage compares.
func lineKey(s string, stage Stage) string {
	switch stage {
	case Exact:
		return s
	case Blanks, Indentation:
		return strings.TrimRight(s, " \t\r")
	default:
		return plain(s, stage)
	}
}

// lineSpan replaces lines[from:to] of text, whose lines end in \n, by fill. A text
// without a final line ending stays without one.
func lineSpan(text string, lines []line, from, to int, fill []string) span {
	start, end := bounds(lines, from, to, len(text))
	if len(fill) == 0 {
		return span{start, end, ""}
	}
	body := strings.Join(fill, "\n")
	open := end == len(text) && text != "" && !strings.HasSuffix(text, "\n")
	switch {
	case open && start == end:
		body = "\n" + body
	case !open:
		body += "\n"
	}
	return span{start, max(start, end), body}
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
