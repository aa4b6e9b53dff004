package edit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Glyph is a unit of cursor movement: a grapheme cluster, a newline, or a whole paste shown
// as a placeholder.
type Glyph struct {
	Text   string // submitted text
	Show   string // drawn text; empty for a newline
	Width  int    // of Show, in cells
	Folded bool   // Show is a placeholder for Text
}

// Newline breaks a line.
var Newline = Glyph{Text: "\n"}

const tabShown = "    "

// Glyphs splits text into glyphs.
func Glyphs(text string) []Glyph {
	out := make([]Glyph, 0, len(text))
	for text != "" {
		g, n := firstGlyph(text)
		out = append(out, g)
		text = text[n:]
	}
	return out
}

// maxGlyph is the width of a glyph in cells from which a cluster of more characters, which has
// no end in some scripts, becomes several glyphs.
const maxGlyph = 16

func firstGlyph(text string) (Glyph, int) {
	switch c := text[0]; {
	case c == '\n':
		return Newline, 1
	case c == '\t':
		return Glyph{Text: "\t", Show: tabShown, Width: len(tabShown)}, 1
	case c >= ' ' && c < 0x7f && (len(text) == 1 || text[1] < utf8.RuneSelf):
		return Glyph{Text: text[:1], Show: text[:1], Width: 1}, 1
	}
	n, w := cells.First(text)
	if w > maxGlyph {
		n, _ = cells.FitSome(text[:n], maxGlyph)
	}
	cluster := text[:n]
	show := sanitize.Line(cluster)
	const before = "a"
	if k, _ := cells.First(before + show); k > len(before) {
		show = "◌" + show // a mark of nothing: it would join the character that is drawn before
	}
	return Glyph{Text: cluster, Show: show, Width: cells.Width(before+show) - len(before)}, n
}

// Plain joins the submitted text of glyphs.
func Plain(gs []Glyph) string {
	n := 0
	for _, g := range gs {
		n += len(g.Text)
	}
	var b strings.Builder
	b.Grow(n)
	for _, g := range gs {
		b.WriteString(g.Text)
	}
	return b.String()
}

// IsNewline reports whether g breaks the line.
func (g Glyph) IsNewline() bool { return g.Show == "" }

// IsSpace reports whether g is white space.
func (g Glyph) IsSpace() bool { return g.Text == " " || g.Text == "\t" || g.IsNewline() }

// IsWord reports whether g is part of a word.
func (g Glyph) IsWord() bool {
	r, _ := utf8.DecodeRuneInString(g.Text)
	return g.Folded || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// Buffer is a text with a cursor before glyph At.
type Buffer struct {
	Gs []Glyph
	At int
}

// Clone returns a copy of b.
func (b *Buffer) Clone() Buffer { return Buffer{Gs: slices.Clone(b.Gs), At: b.At} }

// Insert inserts glyphs at the cursor. It merges adjacent characters that form one cluster.
func (b *Buffer) Insert(gs ...Glyph) {
	b.Gs = slices.Insert(b.Gs, b.At, gs...)
	start := b.At
	b.At += len(gs)
	for i := start; i <= b.At; {
		if !b.rejoin(i) {
			i++
		}
	}
}

// rejoin merges glyph i and the one before it, if they form one cluster.
func (b *Buffer) rejoin(i int) bool {
	if i <= 0 || i >= len(b.Gs) || b.Gs[i-1].Folded || b.Gs[i].Folded || b.Gs[i].Text[0] < utf8.RuneSelf {
		return false
	}
	both := b.Gs[i-1].Text + b.Gs[i].Text
	g, n := firstGlyph(both)
	if n < len(both) {
		return false
	}
	b.Gs = slices.Replace(b.Gs, i-1, i+1, g)
	if b.At > i {
		b.At--
	}
	return true
}

// Remove deletes and returns the glyphs from i to j.
func (b *Buffer) Remove(i, j int) []Glyph {
	if i >= j {
		return nil
	}
	gone := slices.Clone(b.Gs[i:j])
	b.Gs = slices.Delete(b.Gs, i, j)
	switch {
	case b.At >= j:
		b.At -= j - i
	case b.At > i:
		b.At = i
	}
	b.rejoin(i)
	return gone
}

// LineStart returns the start of the line with the cursor.
func (b *Buffer) LineStart() int {
	i := b.At
	for i > 0 && !b.Gs[i-1].IsNewline() {
		i--
	}
	return i
}

// LineEnd returns the end of the line with the cursor.
func (b *Buffer) LineEnd() int {
	i := b.At
	for i < len(b.Gs) && !b.Gs[i].IsNewline() {
		i++
	}
	return i
}

// WordLeft returns the start of a word before the cursor.
func (b *Buffer) WordLeft() int {
	i := b.At
	for i > 0 && !b.Gs[i-1].IsWord() {
		i--
	}
	for i > 0 && b.Gs[i-1].IsWord() {
		i--
	}
	return i
}

// WordRight returns the end of a word after the cursor.
func (b *Buffer) WordRight() int {
	i := b.At
	for i < len(b.Gs) && !b.Gs[i].IsWord() {
		i++
	}
	for i < len(b.Gs) && b.Gs[i].IsWord() {
		i++
	}
	return i
}

// BlankLeft is WordLeft for words delimited by blanks only.
func (b *Buffer) BlankLeft() int {
	i := b.At
	for i > 0 && b.Gs[i-1].IsSpace() {
		i--
	}
	for i > 0 && !b.Gs[i-1].IsSpace() {
		i--
	}
	return i
}
