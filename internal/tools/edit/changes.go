package edit

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// changes returns the edits of plain(before, stage) that give after. What before and after share,
// lines and at a loose stage words, is in none of them, so that the file's own bytes stay.
func changes(before, after string, stage Stage) []span {
	d := sharedLines(before, after, stage)
	fill := strings.SplitAfter(after, "\n")
	var out []span
	from, at := 0, 0 // the line d.A[at] begins at byte from
	for _, e := range d.Edits {
		from += size(d.A[at:e.AStart])
		old := strings.Join(d.A[e.AStart:e.AEnd], "")
		text := strings.Join(fill[e.BStart:e.BEnd], "")
		for _, s := range changedWords(old, text, stage) {
			out = append(out, span{from + s.from, from + s.to, s.text})
		}
		from += len(old)
		at = e.AEnd
	}
	return out
}

// changedWords returns the edits of old, which has the form of stage, that give text. If they
// differ in nothing that stage compares, the difference is meant.
func changedWords(old, text string, stage Stage) []span {
	form := plain(text, stage)
	if stage == Exact || form == old {
		head, tail := common(old, text)
		return []span{{head, len(old) - tail, text[head : len(text)-tail]}}
	}
	a, b := tokens(old), tokens(form)
	edits := meant(diff.Lines(asLines(a), asLines(b)).Edits, a, b, stage)
	inOld, inForm := starts(a), starts(b)
	var offsets []int
	for _, e := range edits {
		offsets = append(offsets, inForm[e.BStart], inForm[e.BEnd])
	}
	origin := origins(text, stage, offsets)
	origin[len(form)] = len(text)
	var out []span
	for _, e := range edits {
		out = append(out, span{inOld[e.AStart], inOld[e.AEnd], text[origin[inForm[e.BStart]]:origin[inForm[e.BEnd]]]})
	}
	return out
}

// starts returns where each token begins, and the last one ends.
func starts(tokens []string) []int {
	out := []int{0}
	for i, t := range tokens {
		out = append(out, out[i]+len(t))
	}
	return out
}

// meant joins edits with nothing but blanks between them if the number of blanks does not count:
// those of the new text are meant. An edit that puts something on a blank line takes the blanks of
// that line.
func meant(edits []diff.Edit, a, b []string, stage Stage) []diff.Edit {
	var out []diff.Edit
	for _, e := range edits {
		added := e.BEnd > e.BStart && b[e.BEnd-1] != "\n"
		if added && e.AEnd < len(a) && a[e.AEnd] == "\n" && (e.AEnd == 0 || a[e.AEnd-1] == "\n") {
			e.AEnd, e.BEnd = e.AEnd+1, e.BEnd+1
		}
		if n := len(out) - 1; n >= 0 {
			between := strings.Join(a[out[n].AEnd:e.AStart], "")
			if between == "" || stage == Spacing && strings.Trim(between, " \t") == "" {
				out[n].AEnd, out[n].BEnd = e.AEnd, e.BEnd
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

// tokens cuts s into words, runs of blanks, line ends and single other characters.
func tokens(s string) []string {
	var out []string
	for _, l := range strings.SplitAfter(s, "\n") {
		body, ended := strings.CutSuffix(l, "\n")
		out = append(out, diff.Tokens(body)...)
		if ended {
			out = append(out, "\n")
		}
	}
	return out
}

// asLines puts each token on a line of its own, and a line end on an empty one.
func asLines(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(strings.TrimSuffix(t, "\n") + "\n")
	}
	return b.String()
}

// placed returns edits of plain(before, stage) as edits of text, of which that form begins at byte
// at. ok is false if one of them cuts a character.
func placed(edits []span, at int, origin map[int]int) (out []span, ok bool) {
	for _, e := range edits {
		from, first := origin[at+e.from]
		to, last := origin[at+e.to]
		if !first || !last {
			return nil, false
		}
		out = append(out, span{from, to, e.text})
	}
	return out, true
}

// straightener returns what undoes a model's habit in the text that it adds: each typographic
// character of before that the file's own text lacks is plain there.
func straightener(before, have string, stage Stage) *strings.Replacer {
	var pairs []string
	if stage == Typographic {
		for _, r := range before {
			if simple, ok := plainCharacter(r); ok && r != ' ' && !strings.ContainsRune(have, r) {
				pairs = append(pairs, string(r), simple)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// adapt returns after with the file's own bytes, those of have, where before, which is have in the
// form of stage, and after agree.
func adapt(have, before, after string, stage Stage) string {
	edits := changes(before, after, stage)
	var offsets []int
	for _, e := range edits {
		offsets = append(offsets, e.from, e.to)
	}
	spans, ok := placed(edits, 0, origins(have, stage, offsets))
	if !ok {
		return after
	}
	return splice(have, spans)
}

// sharedLines compares the lines of before, in the form of stage, with those of after. A
// line of after that before holds as well is compared in that form too.
func sharedLines(before, after string, stage Stage) *diff.Diff {
	if stage == Exact {
		return diff.Lines(before, after)
	}
	had := map[string]bool{}
	for _, l := range strings.SplitAfter(before, "\n") {
		had[l] = true
	}
	var b strings.Builder
	for _, l := range strings.SplitAfter(after, "\n") {
		if had[l] {
			l = plain(l, stage)
		}
		b.WriteString(l)
	}
	return diff.Lines(plain(before, stage), b.String())
}

// joinsLines reports whether an edit at one of the places joins two lines by mistake: an
// edge of before is a line ending that after lacks, and more than blanks change. A
// missing ending after several places is not taken for a mistake.
func joinsLines(text string, found []match, before, after string, all bool) bool {
	words := strings.Join(strings.Fields(before), "")
	if words == "" || words == strings.Join(strings.Fields(after), "") {
		return false
	}
	lone := !all && len(found) == 1
	return slices.ContainsFunc(found, func(m match) bool {
		first, last := m.joins(text, before, after)
		return first || last && lone
	})
}

// joins reports whether a line ending at the beginning or the end of before, which after
// lacks, is the one between two lines of text.
func (m match) joins(text, before, after string) (first, last bool) {
	above := !atLineStart(text, m.from) // the place continues a line
	below := !atLineEnd(text, m.to)
	first = strings.HasPrefix(before, "\n") && !strings.HasPrefix(after, "\n") && above && (after != "" || below)
	last = strings.HasSuffix(before, "\n") && !strings.HasSuffix(after, "\n") && below && (after != "" || above)
	return first, last
}
