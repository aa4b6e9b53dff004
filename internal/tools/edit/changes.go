package edit

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// changes returns the edits of plain(before, stage) that give after. A line that before
// and after share is in none of them, so that the file's own line stays.
func changes(before, after string, stage Stage) []span {
	d := sharedLines(before, after, stage)
	fill := strings.SplitAfter(after, "\n")
	var out []span
	from, at := 0, 0 // the line d.A[at] begins at byte from
	for _, e := range d.Edits {
		from += size(d.A[at:e.AStart])
		old := strings.Join(d.A[e.AStart:e.AEnd], "")
		text := strings.Join(fill[e.BStart:e.BEnd], "")
		head, tail := common(old, text)
		if at := len(old) - tail; stage != Exact && tail > 0 && old[at] == '\n' && atLineStart(old, at) {
			tail-- // the blanks of a blank line go with it
		}
		out = append(out, span{from + head, from + len(old) - tail, text[head : len(text)-tail]})
		from += len(old)
		at = e.AEnd
	}
	return out
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
