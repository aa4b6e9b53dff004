package theme

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// Wrap breaks text into lines of at most width columns, each after prefix. It breaks at
// blanks only, so that flags, hyphenated names and URLs stay in one piece for copying; it
// cuts a word longer than a line.
func Wrap(text, prefix string, width int) []string {
	lines := wrap(text, max(10, width-cells.Width(prefix)))
	for i, l := range lines {
		lines[i] = prefix + l
	}
	return lines
}

func wrap(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if cells.Width(line) <= width {
			out = append(out, line)
			continue
		}
		out = append(out, wrapLine(line, width)...)
	}
	return out
}

// wrapLine breaks a line that is too wide. It drops the blanks at a break.
func wrapLine(line string, width int) []string {
	var out []string
	current, used := "", 0
	for line != "" {
		blanks := line[:len(line)-len(strings.TrimLeft(line, " "))]
		word, _, _ := strings.Cut(line[len(blanks):], " ")
		line = line[len(blanks)+len(word):]
		wide := cells.Width(word)
		switch {
		case used+len(blanks)+wide <= width:
			current, used = current+blanks+word, used+len(blanks)+wide
			continue
		case wide <= width:
			out = append(out, current)
			current, used = word, wide
			continue
		case used > 0 && wide == utf8.RuneCountInString(ansi.Strip(word)):
			// A long name or URL begins a new line; wide characters may break anywhere.
			out = append(out, current)
			current, blanks = "", ""
		}
		parts := cells.Wrap(current+blanks+word, width)
		out = append(out, parts[:len(parts)-1]...)
		current = parts[len(parts)-1]
		used = cells.Width(current)
	}
	return append(out, current)
}
