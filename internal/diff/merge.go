package diff

import "strings"

// Merged is the result of a three-way merge.
type Merged struct {
	Text      string     // the merged text; meaningless with conflicts
	Conflicts []Conflict // in order
}

// Conflict is a place that both sides changed, each in its own way, or that one side
// changed right beside a change of the other.
type Conflict struct {
	Line               int // 1-based, in their text: the first line of Theirs, or the one after it
	Base, Ours, Theirs string
}

// Merge applies the changes from base to ours and those from base to theirs to base, as
// git merge-file does: changes of both sides must have an unchanged line between them, or
// be the same change.
func Merge(base, ours, theirs string) Merged {
	switch {
	case ours == theirs || base == theirs:
		return Merged{Text: ours}
	case base == ours:
		return Merged{Text: theirs}
	}
	m := merger{ours: Lines(base, ours), theirs: Lines(base, theirs)}
	m.run()
	return Merged{Text: m.out.String(), Conflicts: m.conflicts}
}

// merger walks through the edits of both sides in the order of base.
type merger struct {
	ours, theirs *Diff
	i, j         int // the next edits
	at           int // the line of base that is written next
	out          strings.Builder
	conflicts    []Conflict
}

func (m *merger) run() {
	for {
		a, b := m.ours.next(m.i), m.theirs.next(m.j)
		switch {
		case a == nil && b == nil:
			m.keep(len(m.ours.A))
			return
		case b == nil || a != nil && a.AEnd < b.AStart:
			m.take(*a, m.ours.B)
			m.i++
		case a == nil || b.AEnd < a.AStart:
			m.take(*b, m.theirs.B)
			m.j++
		default:
			m.meet()
		}
	}
}

// meet merges a group of edits of both sides that overlap or touch.
func (m *merger) meet() {
	i, j := m.i, m.j
	a, b := m.ours.Edits[i], m.theirs.Edits[j]
	start, end := min(a.AStart, b.AStart), max(a.AEnd, b.AEnd)
	for m.i, m.j = i+1, j+1; ; {
		if e := m.ours.next(m.i); e != nil && e.AStart <= end {
			end = max(end, e.AEnd)
			m.i++
		} else if e := m.theirs.next(m.j); e != nil && e.AStart <= end {
			end = max(end, e.AEnd)
			m.j++
		} else {
			break
		}
	}
	m.keep(start)
	ours, _ := m.ours.replaced(start, end, i, m.i)
	theirs, line := m.theirs.replaced(start, end, j, m.j)
	if ours != theirs {
		base := strings.Join(m.ours.A[start:end], "")
		m.conflicts = append(m.conflicts, Conflict{Line: line + 1, Base: base, Ours: ours, Theirs: theirs})
	}
	m.out.WriteString(ours)
	m.at = end
}

// keep writes the unchanged lines of base before the line end.
func (m *merger) keep(end int) {
	for _, l := range m.ours.A[m.at:end] {
		m.out.WriteString(l)
	}
	m.at = end
}

// take applies an edit of one side, whose text has the lines b.
func (m *merger) take(e Edit, b []string) {
	m.keep(e.AStart)
	for _, l := range b[e.BStart:e.BEnd] {
		m.out.WriteString(l)
	}
	m.at = e.AEnd
}

// next returns the edit with the index i, or nil after the last one.
func (d *Diff) next(i int) *Edit {
	if i == len(d.Edits) {
		return nil
	}
	return &d.Edits[i]
}

// replaced returns the text that the lines start to end of A became by the edits first to
// last, which lie within, and the index of its first line in B.
func (d *Diff) replaced(start, end, first, last int) (text string, line int) {
	from := d.Edits[first].BStart - (d.Edits[first].AStart - start)
	to := d.Edits[last-1].BEnd + (end - d.Edits[last-1].AEnd)
	return strings.Join(d.B[from:to], ""), from
}
