package screen

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// row is a line that is safe to write: it contains only text and styles, ends in the default
// style, and fits the terminal, unless a single character is wider.
type row struct {
	raw   string // its source
	text  string
	width int // cells
}

// preparer turns lines into rows. It reuses rows of the previous frame.
type preparer struct {
	palette
	width int
	last  []row
}

// use changes the colors and discards prepared rows.
func (p *preparer) use(colors paint.Palette) {
	p.colors, p.known, p.last = colors, nil, nil
}

// tail prepares the live region.
func (p *preparer) tail(lines []string, width int) []row {
	if p.width != width {
		p.width, p.last = width, nil
	}
	rows := make([]row, len(lines))
	for i, l := range lines {
		if i < len(p.last) && p.last[i].raw == l {
			rows[i] = p.last[i]
			continue
		}
		rows[i] = p.row(l, width)
	}
	p.last = rows
	return rows
}

// row prepares one line and cuts it at width.
func (p *preparer) row(line string, width int) row {
	text, f := p.safe(line)
	if f.width > width {
		text = cells.Truncate(text, width, "")
		f = look(text)
	}
	return row{raw: line, text: ended(text, f), width: f.width}
}

// finished prepares lines for the scrollback and wraps them at width.
func (p *preparer) finished(lines []string, width int) []row {
	rows := make([]row, 0, len(lines))
	for _, line := range lines {
		for part := range strings.SplitSeq(line, "\n") {
			rows = p.wrap(rows, part, width)
		}
	}
	return rows
}

func (p *preparer) wrap(rows []row, line string, width int) []row {
	text, f := p.safe(line)
	if f.width <= width {
		return append(rows, row{text: ended(columns(text), f), width: f.width})
	}
	style := ""
	for _, part := range cells.Wrap(text, width) {
		part = style + part
		style = activeStyle(part)
		f := look(part)
		rows = append(rows, row{text: ended(part, f), width: f.width})
	}
	return rows
}

// safe returns line in the terminal's colors, without trailing blanks and anything that could
// move the cursor or change a mode.
func (p *preparer) safe(line string) (string, facts) {
	f := look(line)
	if f.dirty {
		line = clean(line)
		f = look(line)
	}
	if f.styled {
		line = p.color(line)
	}
	if strings.HasSuffix(line, " ") || f.styled {
		line = strings.TrimRight(line, " ")
		f = look(line)
	}
	return line, f
}

// columns returns text with the cursor moved to the bars of its columns, where terminals disagree
// about the text before: they count fewer cells than it was padded for.
func columns(text string) string {
	const bar = " │"
	if !strings.Contains(text, bar) {
		return text
	}
	var b strings.Builder
	for at := 0; ; {
		i := strings.Index(text[at:], bar)
		if i < 0 {
			b.WriteString(text[at:])
			return b.String()
		}
		end := at + i + len(" ")
		b.WriteString(text[at:end])
		if w := cells.Width(text[:end]); cells.Least(text[:end]) != w {
			b.WriteString("\x1b[" + strconv.Itoa(w+1) + "G")
		}
		at = end
	}
}

// ended appends a reset if a row does not end in the default style.
func ended(text string, f facts) string {
	if f.open {
		return text + resetStyle
	}
	return text
}

// facts is the result of scanning a line.
type facts struct {
	width  int  // cells
	styled bool // has styles
	open   bool // does not end in the default style
	dirty  bool // contains something to remove
}

// look scans a line.
func look(s string) facts {
	var f facts
	ascii := true
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == 0x1b:
			n := styleLen(s[i:])
			if n == 0 {
				f.dirty = true
				return f
			}
			f.styled, f.open = true, !isReset(s[i:i+n])
			i += n
			continue
		case c < 0x20 || c == 0x7f:
			f.dirty = true
			return f
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 || r < 0xa0 {
				f.dirty = true
				return f
			}
			ascii = false
			i += n
			continue
		}
		f.width++
		i++
	}
	if !ascii {
		f.width = cells.Width(s)
	}
	return f
}

// styleLen returns the length of the style (SGR) sequence at the start of s, or 0 if there is
// none. Private and intermediate characters make it another sequence.
func styleLen(s string) int {
	if len(s) < 3 || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c >= '0' && c <= ';': // digits, colon, semicolon
		default:
			return 0
		}
	}
	return 0
}

// isReset reports whether a style sequence ends in the default style.
func isReset(seq string) bool {
	params := seq[2 : len(seq)-1]
	return params == "" || params == "0"
}

// clean drops control characters and all sequences except styles, replaces invalid bytes with
// a replacement character and expands tabs to every eighth column.
func clean(s string) string {
	var b strings.Builder
	column := 0
	for len(s) > 0 {
		if n := styleLen(s); s[0] == 0x1b && n > 0 {
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		seq, width, n, _ := ansi.DecodeSequence(s, ansi.NormalState, nil)
		switch {
		case seq == "\t":
			width = 8 - column%8
			b.WriteString(strings.Repeat(" ", width))
		case width > 0 && utf8.ValidString(seq):
			b.WriteString(seq)
		case !utf8.ValidString(seq):
			width = 1
			b.WriteRune(utf8.RuneError)
		default:
			width = 0
		}
		column += width
		s = s[max(1, n):]
	}
	return b.String()
}

// activeStyle returns the style sequences in force at the end of s.
func activeStyle(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			return b.String()
		}
		n := styleLen(s[i:])
		if n == 0 {
			return b.String()
		}
		if seq := s[i : i+n]; isReset(seq) {
			b.Reset()
		} else {
			b.WriteString(seq)
		}
		s = s[i+n:]
	}
}
