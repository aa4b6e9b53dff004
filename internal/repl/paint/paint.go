// Package paint turns styled text into terminal lines. It guarantees that each line begins
// and ends in the terminal's default style, that it is no wider than asked for, that only
// Tinted leaves trailing blanks, and that no escape sequence is redundant. It does not
// sanitize: callers pass sanitized text.
package paint

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// Attr is a set of attributes.
type Attr uint8

// The attributes.
const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Underline
	Strike
	Reverse
)

// Style is how a piece of text looks. The zero value is the terminal's own style.
type Style struct {
	FG, BG Color
	Attr   Attr
}

// Over returns s laid over base: what s leaves unset comes from base.
func (s Style) Over(base Style) Style {
	if s.FG == 0 {
		s.FG = base.FG
	}
	if s.BG == 0 {
		s.BG = base.BG
	}
	s.Attr |= base.Attr
	return s
}

// Span is text in one style, without newlines and tabs.
type Span struct {
	Text  string
	Style Style
}

// Around returns text in the style s, including trailing blanks. Empty text stays empty.
func (s Style) Around(text string) string {
	if text == "" || s == (Style{}) {
		return text
	}
	return string(appendSGR(nil, Style{}, s)) + text + "\x1b[m"
}

// Line joins spans into a line. If plain, it writes no escape sequences.
func Line(plain bool, spans ...Span) string {
	w := writer{plain: plain}
	for _, s := range spans {
		w.write(s.Text, s.Style)
	}
	return w.line()
}

// Tinted joins spans into a line and keeps its trailing blanks.
func Tinted(spans ...Span) string {
	var w writer
	for _, s := range spans {
		w.write(s.Text, s.Style)
	}
	for _, s := range w.blank {
		w.putBlank(s)
	}
	return w.line()
}

// writer builds one line. It holds back blanks until something follows them.
type writer struct {
	plain bool
	b     []byte
	cur   Style
	blank []Span
}

func (w *writer) write(text string, style Style) {
	body := strings.TrimRight(text, " ")
	if body != "" {
		for _, s := range w.blank {
			w.putBlank(s)
		}
		w.blank = w.blank[:0]
		w.put(body, style)
	}
	if tail := text[len(body):]; tail != "" {
		w.blank = append(w.blank, Span{Text: tail, Style: style})
	}
}

// putBlank writes a blank, in the current style if that looks the same.
func (w *writer) putBlank(s Span) {
	style := blankStyle(s.Style)
	if style == blankStyle(w.cur) {
		style = w.cur
	}
	w.put(s.Text, style)
}

// blankStyle drops attributes that are invisible on a blank.
func blankStyle(s Style) Style {
	s.Attr &= Underline | Strike | Reverse
	if s.Attr == 0 {
		s.FG = 0
	}
	return s
}

func (w *writer) put(text string, style Style) {
	if style != w.cur && !w.plain {
		w.b = appendSGR(w.b, w.cur, style)
		w.cur = style
	}
	w.b = append(w.b, text...)
}

// line returns the line and starts the next one.
func (w *writer) line() string {
	if w.cur != (Style{}) {
		w.b = appendSGR(w.b, w.cur, Style{})
	}
	s := string(w.b)
	w.b, w.cur, w.blank = w.b[:0], Style{}, w.blank[:0]
	return s
}

// appendSGR appends the sequence that changes one style to another. A style only adds to the
// terminal's default, so every change between two others includes a reset.
func appendSGR(b []byte, from, to Style) []byte {
	b = append(b, "\x1b["...)
	start := len(b)
	if from != (Style{}) && to != (Style{}) {
		b = append(b, '0', ';')
	}
	for i, code := range [...]byte{'1', '2', '3', '4', '9', '7'} {
		if to.Attr&(1<<i) != 0 {
			b = append(b, code, ';')
		}
	}
	if to.FG != 0 {
		b = append(to.FG.appendParams(b, 30), ';')
	}
	if to.BG != 0 {
		b = append(to.BG.appendParams(b, 40), ';')
	}
	if len(b) > start {
		b = b[:len(b)-1]
	}
	return append(b, 'm')
}

// Chop cuts spans into rows of at most width columns, inside words if necessary, and keeps
// all text in place. It returns at least one row.
func Chop(spans []Span, width int) [][]Span {
	var rows [][]Span
	var row []Span
	col := 0
	for _, s := range joined(spans) {
		for text := s.Text; text != ""; {
			n, w := cells.Fit(text, width-col)
			if n == 0 && col == 0 {
				n, w = cells.FitSome(text, width)
			}
			if n > 0 {
				row = append(row, Span{Text: text[:n], Style: s.Style})
			}
			if text = text[n:]; text != "" {
				rows = append(rows, row)
				row, w, col = nil, 0, 0
			}
			col += w
		}
	}
	return append(rows, row)
}

// joined returns spans in which no character is split: the rest of a split character (an
// accent, an emoji modifier) moves to the span that begins it.
func joined(spans []Span) []Span {
	copied := false
	for i := 1; i < len(spans); i++ {
		before, text := spans[i-1].Text, spans[i].Text
		if before == "" || text == "" || text[0] < utf8.RuneSelf {
			continue
		}
		last := lastGrapheme(before)
		if n, _ := cells.First(last + text); n > len(last) {
			if !copied {
				spans, copied = slices.Clone(spans), true
			}
			n -= len(last)
			spans[i-1].Text, spans[i].Text = before+text[:n], text[n:]
		}
	}
	return spans
}

// lastGrapheme returns the last character of s, or a part of it: it looks at the last 64
// bytes only.
func lastGrapheme(s string) string {
	if len(s) > 64 {
		s = s[len(s)-64:]
		for s != "" && !utf8.RuneStart(s[0]) {
			s = s[1:]
		}
	}
	for {
		n, _ := cells.First(s)
		if n == 0 || n >= len(s) {
			return s
		}
		s = s[n:]
	}
}

// Truncate cuts spans to width columns, ending in … if it cut anything.
func Truncate(spans []Span, width int) []Span {
	if WidthOf(spans) <= width {
		return spans
	}
	if width < 1 {
		return nil
	}
	row := slices.Clip(Chop(spans, max(width-1, 1))[0])
	style := Style{}
	if len(row) > 0 {
		style = row[len(row)-1].Style
	}
	if WidthOf(row) > width-1 { // no character fits before the …
		row = nil
	}
	return append(row, Span{Text: "…", Style: style})
}
