package edit

import "strings"

// Source returns glyphs as shown: it does not expand placeholders.
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

// Parse parses the edited result of Source: the placeholders of known keep their meaning. The
// cursor is at the end.
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

// MarkWords replaces words for which mark returns a placeholder.
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
