package input

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// glyph is what the cursor moves over in one step: a grapheme cluster, a newline, or
// a whole paste that is shown as a placeholder.
type glyph struct {
	text   string // what is submitted
	show   string // what is drawn; empty for a newline
	width  int    // cells of show
	folded bool   // show stands for text
}

var newline = glyph{text: "\n"}

const tabShown = "    "

// glyphs cuts text into glyphs.
func glyphs(text string) []glyph {
	out := make([]glyph, 0, len(text))
	for text != "" {
		g, n := firstGlyph(text)
		out = append(out, g)
		text = text[n:]
	}
	return out
}

func firstGlyph(text string) (glyph, int) {
	switch c := text[0]; {
	case c == '\n':
		return newline, 1
	case c == '\t':
		return glyph{text: "\t", show: tabShown, width: len(tabShown)}, 1
	case c >= ' ' && c < 0x7f && (len(text) == 1 || text[1] < utf8.RuneSelf):
		return glyph{text: text[:1], show: text[:1], width: 1}, 1
	}
	cluster, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	if cluster == "" {
		cluster = text[:1]
	}
	show := visible(cluster)
	return glyph{text: cluster, show: show, width: ansi.StringWidth(show)}, len(cluster)
}

// visible returns what to draw for a cluster. Emoji that are joined to one are the
// user's own and stay; every other character that cannot be seen is spelt out.
func visible(cluster string) string {
	const joiner = "\u200d"
	if parts := strings.ReplaceAll(cluster, joiner, ""); parts != cluster && ansi.StringWidth(cluster) == 2 {
		if sanitize.Line(parts) == parts {
			return cluster
		}
	}
	return sanitize.Line(cluster)
}

// plain joins what glyphs stand for.
func plain(gs []glyph) string {
	n := 0
	for _, g := range gs {
		n += len(g.text)
	}
	var b strings.Builder
	b.Grow(n)
	for _, g := range gs {
		b.WriteString(g.text)
	}
	return b.String()
}

func (g glyph) isNewline() bool { return g.show == "" }
func (g glyph) isSpace() bool   { return g.text == " " || g.text == "\t" || g.isNewline() }

func (g glyph) isWord() bool {
	r, _ := utf8.DecodeRuneInString(g.text)
	return g.folded || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// buffer is the text and the cursor in it, which stands before the glyph at.
type buffer struct {
	gs []glyph
	at int
}

// insert puts glyphs at the cursor. Where characters meet that make one cluster
// together, they become one.
func (b *buffer) insert(gs ...glyph) {
	b.gs = slices.Insert(b.gs, b.at, gs...)
	start := b.at
	b.at += len(gs)
	for i := start; i <= b.at; {
		if !b.rejoin(i) {
			i++
		}
	}
}

// rejoin makes glyph i and the one before it one, if together they are one cluster.
func (b *buffer) rejoin(i int) bool {
	if i <= 0 || i >= len(b.gs) || b.gs[i-1].folded || b.gs[i].folded || b.gs[i].text[0] < utf8.RuneSelf {
		return false
	}
	both := b.gs[i-1].text + b.gs[i].text
	g, n := firstGlyph(both)
	if n < len(both) {
		return false
	}
	b.gs = slices.Replace(b.gs, i-1, i+1, g)
	if b.at > i {
		b.at--
	}
	return true
}

// remove deletes the glyphs from i to j, and returns them.
func (b *buffer) remove(i, j int) []glyph {
	if i >= j {
		return nil
	}
	gone := slices.Clone(b.gs[i:j])
	b.gs = slices.Delete(b.gs, i, j)
	switch {
	case b.at >= j:
		b.at -= j - i
	case b.at > i:
		b.at = i
	}
	b.rejoin(i)
	return gone
}

// lineStart and lineEnd return the ends of the line that the cursor is in.
func (b *buffer) lineStart() int {
	i := b.at
	for i > 0 && !b.gs[i-1].isNewline() {
		i--
	}
	return i
}

func (b *buffer) lineEnd() int {
	i := b.at
	for i < len(b.gs) && !b.gs[i].isNewline() {
		i++
	}
	return i
}

// wordLeft and wordRight return where a word begins before, or ends behind, the
// cursor.
func (b *buffer) wordLeft() int {
	i := b.at
	for i > 0 && !b.gs[i-1].isWord() {
		i--
	}
	for i > 0 && b.gs[i-1].isWord() {
		i--
	}
	return i
}

func (b *buffer) wordRight() int {
	i := b.at
	for i < len(b.gs) && !b.gs[i].isWord() {
		i++
	}
	for i < len(b.gs) && b.gs[i].isWord() {
		i++
	}
	return i
}

// blankLeft is wordLeft for words that only blanks end.
func (b *buffer) blankLeft() int {
	i := b.at
	for i > 0 && b.gs[i-1].isSpace() {
		i--
	}
	for i > 0 && !b.gs[i-1].isSpace() {
		i--
	}
	return i
}
