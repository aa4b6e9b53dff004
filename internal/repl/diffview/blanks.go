package diffview

import (
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// emphasize lays style over the changed parts of a line.
func emphasize(spans []paint.Span, changed []diff.Span, style paint.Style) []paint.Span {
	if len(changed) == 0 {
		return spans
	}
	var out []paint.Span
	at := 0
	for _, s := range spans {
		for s.Text != "" {
			for len(changed) > 0 && changed[0].End <= at {
				changed = changed[1:]
			}
			n, inside := run(changed, at, len(s.Text))
			part := paint.Span{Text: s.Text[:n], Style: s.Style}
			if inside {
				part.Style = style.Over(part.Style)
			}
			out = append(out, part)
			s.Text = s.Text[n:]
			at += n
		}
	}
	return out
}

// run returns how many of the next most bytes from position at are all inside, or all
// outside, of the sorted ranges, the first of which does not end before.
func run(ranges []diff.Span, at, most int) (n int, inside bool) {
	switch {
	case len(ranges) == 0:
		return most, false
	case at < ranges[0].Start:
		return min(most, ranges[0].Start-at), false
	}
	return min(most, ranges[0].End-at), true
}

// revealed returns the ranges in text, the sanitized form of raw, of characters made visible.
func revealed(raw, text string) []diff.Span {
	var out []diff.Span
	for at := 0; raw != text[at:]; {
		_, n := utf8.DecodeRuneInString(raw)
		if strings.HasPrefix(text[at:], raw[:n]) {
			at += n
			raw = raw[n:]
			continue
		}
		end := at + len(`\x00`)
		if strings.HasPrefix(text[at:], `\u{`) {
			end = at + strings.IndexByte(text[at:], '}') + 1
		}
		out = append(out, diff.Span{Start: at, End: end})
		at, raw = end, raw[n:]
	}
	return out
}

// tellingBlanks returns the white space to make visible: the changes of a line that has no
// others, and the end of an added line.
func tellingBlanks(text string, changed []diff.Span, op diff.Op) []diff.Span {
	var show []diff.Span
	for _, c := range changed {
		if strings.Trim(text[c.Start:c.End], " \t") == "" {
			show = append(show, c)
		}
	}
	end := len(strings.TrimRight(text, " \t"))
	if op != diff.Insert || end == len(text) {
		return show
	}
	for len(show) > 0 && show[len(show)-1].End > end {
		end = min(end, show[len(show)-1].Start)
		show = show[:len(show)-1]
	}
	return append(show, diff.Span{Start: end, End: len(text)})
}

// expand replaces tabs with blanks, and makes the white space in show visible: a tab as →, a
// blank as ·.
func expand(spans []paint.Span, show []diff.Span) []paint.Span {
	out := make([]paint.Span, 0, len(spans))
	at, col := 0, 0
	for _, s := range spans {
		for s.Text != "" {
			for len(show) > 0 && show[0].End <= at {
				show = show[1:]
			}
			n, visible := run(show, at, len(s.Text))
			text := expandPart(s.Text[:n], col, visible)
			out = append(out, paint.Span{Text: text, Style: s.Style})
			col += cells.Width(text)
			at += n
			s.Text = s.Text[n:]
		}
	}
	return out
}

func expandPart(text string, col int, visible bool) string {
	tab, blank := " ", " "
	if visible {
		tab, blank = "→", "·"
	}
	if !visible && strings.IndexByte(text, '\t') < 0 {
		return text
	}
	var b strings.Builder
	for text != "" {
		n := strings.IndexAny(text, "\t ")
		if n < 0 {
			n = len(text)
		}
		b.WriteString(text[:n])
		col += cells.Width(text[:n])
		if text = text[n:]; text == "" {
			break
		}
		width := 1
		if text[0] == '\t' {
			width = paint.TabStop - col%paint.TabStop
			b.WriteString(tab + "   "[:width-1])
		} else {
			b.WriteString(blank)
		}
		col += width
		text = text[1:]
	}
	return b.String()
}
