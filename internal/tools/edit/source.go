package edit

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// source is a file's text and the same text with \n for every line ending.
// Edits are computed on the second and made on the first: a line ending is
// never cut in two.
type source struct {
	text, flat string
	eol        string // the line ending of added lines
	mixed      bool   // some lines end in \n, some in \r\n
}

// newSource returns text as a source. In a file whose line ending is \r, every
// \r ends a line.
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

// sent returns what a model sent with \n for every line ending.
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

// replace returns the text with spans of flat, which are in order, replaced.
// Where a span's new text begins or ends like the old one, the file's own bytes
// stay.
func (s *source) replace(spans []span) string {
	spans = s.narrow(spans)
	mapBack(s.text, s.flat, spans)
	for i := range spans {
		spans[i].text = withEOL(spans[i].text, s.eol)
	}
	return splice(s.text, spans)
}

// narrow returns spans without what their old and new text share at both ends.
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

// stage returns how strictly spans, which were found at the given stage by what
// was sent, compare with the file itself.
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

// rewrite returns the text that holds content: lines that both share keep their
// own line ending.
func (s *source) rewrite(content string) string {
	if !s.mixed {
		return s.replace([]span{{0, len(s.flat), content}})
	}
	d := diff.Lines(s.flat, content)
	var spans []span
	from, at := 0, 0 // the byte at which the line d.A[at] begins
	for _, e := range d.Edits {
		from += size(d.A[at:e.AStart])
		to := from + size(d.A[e.AStart:e.AEnd])
		spans = append(spans, span{from, to, strings.Join(d.B[e.BStart:e.BEnd], "")})
		from, at = to, e.AEnd
	}
	return s.replace(spans)
}

// size returns how many bytes lines have.
func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	return n
}

// withEOL returns s, in which lines end in \n, with eol throughout.
func withEOL(s, eol string) string {
	if eol == "\n" {
		return s
	}
	return strings.ReplaceAll(s, "\n", eol)
}

// mapBack turns spans of flat, which is text with \n for every line ending, into
// spans of text. They are in order.
func mapBack(text, flat string, spans []span) {
	if len(flat) == len(text) {
		return
	}
	src, dst := 0, 0 // the same place in text and in flat
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
