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

// MarkWords puts placeholders in the place of the words that mark knows.
func (t *Text) MarkWords(mark func(word string) (string, bool)) {
	for i := 0; i < len(t.Gs); i++ {
		end := i
		for end < len(t.Gs) && !t.Gs[end].IsSpace() && !t.Gs[end].Folded {
			end++
		}
		if end == i {
			continue
		}
		if m, ok := mark(Plain(t.Gs[i:end])); ok {
			t.MoveTo(i)
			t.Edit(Other, func() { t.Remove(i, end) })
			t.PutMark(m)
			end = i + 1
		}
		i = end
	}
}
