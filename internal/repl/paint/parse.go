package paint

import (
	"strconv"
	"strings"
)

// Parse splits text with escape sequences into lines of spans. It understands palette colors
// and attributes and drops all other complete sequences. It does not sanitize the rest.
func Parse(text string) [][]Span {
	var lines [][]Span
	var line []Span
	var style Style
	for text != "" {
		i := strings.IndexAny(text, "\n\x1b")
		if i < 0 {
			i = len(text)
		}
		if i > 0 {
			line = append(line, Span{Text: text[:i], Style: style})
			text = text[i:]
			continue
		}
		if text[0] == '\n' {
			lines, line = append(lines, line), nil
			text = text[1:]
			continue
		}
		text, style = sequence(text, style)
	}
	return append(lines, line)
}

// sequence removes an escape sequence from the start of text.
func sequence(text string, style Style) (string, Style) {
	switch {
	case strings.HasPrefix(text, "\x1b["):
		end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return text[1:], style
		}
		if text[2+end] == 'm' {
			style = sgr(style, text[2:2+end])
		}
		return text[2+end+1:], style
	case strings.HasPrefix(text, "\x1b]"):
		end := strings.IndexAny(text[2:], "\a\x1b")
		if end < 0 {
			return text[1:], style
		}
		rest := text[2+end:]
		if rest[0] == '\a' {
			return rest[1:], style
		}
		return strings.TrimPrefix(rest, "\x1b\\"), style
	}
	return text[1:], style
}

// sgr applies the parameters of a "select graphic rendition" sequence to style.
func sgr(style Style, params string) Style {
	codes := strings.Split(params, ";")
	for i := 0; i < len(codes); i++ {
		code, err := strconv.Atoi(codes[i])
		if err != nil && codes[i] != "" {
			continue
		}
		if code == 38 || code == 48 {
			n := style.extended(code, codes[i+1:])
			i += n
			continue
		}
		style = simpleSGR(style, code)
	}
	return style
}

// extended applies "5;n" after 38 or 48, and returns the number of parameters it used.
func (style *Style) extended(code int, rest []string) int {
	if len(rest) < 2 || rest[0] != "5" {
		return min(len(rest), 4)
	}
	n, err := strconv.ParseUint(rest[1], 10, 8)
	if err != nil {
		return 2
	}
	if code == 38 {
		style.FG = Index(uint8(n))
	} else {
		style.BG = Index(uint8(n))
	}
	return 2
}

func simpleSGR(s Style, code int) Style {
	attrs := map[int]Attr{1: Bold, 2: Faint, 3: Italic, 4: Underline, 7: Reverse, 9: Strike}
	cleared := map[int]Attr{22: Bold | Faint, 23: Italic, 24: Underline, 27: Reverse, 29: Strike}
	switch {
	case code == 0:
		return Style{}
	case code >= 30 && code <= 37:
		s.FG = Index(uint8(code - 30))
	case code >= 90 && code <= 97:
		s.FG = Index(uint8(code - 82))
	case code >= 40 && code <= 47:
		s.BG = Index(uint8(code - 40))
	case code >= 100 && code <= 107:
		s.BG = Index(uint8(code - 92))
	case code == 39:
		s.FG = 0
	case code == 49:
		s.BG = 0
	}
	s.Attr |= attrs[code]
	s.Attr &^= cleared[code]
	return s
}
