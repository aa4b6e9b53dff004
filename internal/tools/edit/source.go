package edit

import "strings"

// source is a file's text, also with \n as every line ending. Edits are computed on the
// latter and made on the former, so that no line ending is cut in two.
type source struct {
	text, flat string
	eol        string // the line ending of added lines
	mixed      bool   // some lines end in \n, some in \r\n
}

// newSource returns text as a source. If the file's line ending is \r, every \r ends a
// line.
func newSource(text, eol string) *source {
	s := &source{text: text, eol: or(eol, "\n")}
	if eol == "\r" {
		s.flat = strings.ReplaceAll(text, "\r", "\n")
		return s
	}
	s.flat = strings.ReplaceAll(text, "\r\n", "\n")
	crlf := len(text) - len(s.flat)
	s.mixed = crlf > 0 && crlf < strings.Count(s.flat, "\n")
	return s
}

// sent returns a model's text with \n as every line ending.
func (s *source) sent(text string) string {
	if strings.Contains(text, "\r\n") {
		lines := strings.SplitAfter(text, "\n")
		for i, l := range lines {
			if body, ended := strings.CutSuffix(l, "\n"); ended {
				lines[i] = strings.TrimRight(body, "\r") + "\n"
			}
		}
		text = strings.Join(lines, "")
	}
	if s.eol == "\r" {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return text
}

// replace returns the text with spans of flat, given in order, replaced. Common ends of a
// span's old and new text keep the file's own bytes.
func (s *source) replace(spans []span) string {
	spans = s.narrow(spans)
	mapBack(s.text, s.flat, spans)
	for i := range spans {
		spans[i].text = withEOL(spans[i].text, s.eol)
	}
	return splice(s.text, spans)
}

// narrow removes from spans the common ends of their old and new text.
func (s *source) narrow(spans []span) []span {
	out := make([]span, len(spans))
	for i, sp := range spans {
		if strings.HasPrefix(s.flat[sp.to:], "\n") {
			sp.text = strings.TrimRight(sp.text, "\r") // it would become part of the line ending
		}
		head, tail := common(s.flat[sp.from:sp.to], sp.text)
		out[i] = span{sp.from + head, sp.to - tail, sp.text[head : len(sp.text)-tail]}
	}
	return out
}

// stage returns the strictest stage at which spans, found at the given stage for the text
// sent, match the file itself.
func (s *source) stage(found Stage, spans []span, sent string) Stage {
	lines := strings.Contains(sent, "\n")
	for _, sp := range spans {
		lines = lines || s.mixed && strings.Contains(s.flat[sp.from:sp.to]+sp.text, "\n")
	}
	switch {
	case s.mixed && lines:
		return max(found, MixedEndings)
	case lines && s.text != s.flat, strings.Contains(sent, "\r\n"):
		return max(found, LineEndings)
	}
	return found
}

// rewrite returns the text with the given content. Unchanged lines keep their own line
// ending.
func (s *source) rewrite(content string) string {
	return s.replace(changes(s.flat, content, Exact))
}

// size returns the total length of lines in bytes.
func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	return n
}

// withEOL returns s, whose lines end in \n, with eol instead.
func withEOL(s, eol string) string {
	if eol == "\n" {
		return s
	}
	return strings.ReplaceAll(s, "\n", eol)
}

// mapBack turns spans of flat, which is text with \n as every line ending, into spans of
// text. They are in order.
func mapBack(text, flat string, spans []span) {
	if len(flat) == len(text) {
		return
	}
	src, dst := 0, 0 // the same position in text and in flat
	advance := func(to int) int {
		for dst < to {
			if text[src] == '\r' && flat[dst] == '\n' {
				src++
			}
			src++
			dst++
		}
		return src
	}
	for i := range spans {
		spans[i].from = advance(spans[i].from)
		spans[i].to = advance(spans[i].to)
	}
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
