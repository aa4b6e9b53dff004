package edit

import "strings"

// Source returns glyphs as they are shown: placeholders are not expanded.
func Source(gs []Glyph) string {
	var b strings.Builder
	for _, g := range gs {
		if g.Folded {
			b.WriteString(g.Show)
		} else {
			b.WriteString(g.Text)
		}
	}
	return b.String()
}

// Parse reads what Source wrote, after it was edited: the placeholders of known stand
// for what they stood for. The cursor is at the end.
func Parse(text string, known []Glyph) Buffer {
	var b Buffer
	for text != "" {
		at, next := len(text), Glyph{}
		for _, g := range known {
			if i := strings.Index(text, g.Show); g.Folded && i >= 0 && i < at {
				at, next = i, g
			}
		}
		b.Gs = append(b.Gs, Glyphs(text[:at])...)
		if next.Folded {
			b.Gs = append(b.Gs, next)
		}
		text = text[at+len(next.Show):]
	}
	b.At = len(b.Gs)
	return b
}
