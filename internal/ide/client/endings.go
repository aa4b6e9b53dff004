package client

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// mark is a byte order mark. It is no part of a proposal, but of its file.
const mark = "\ufeff"

// restored returns the editor's answer to proposal without the changes that the editor makes, and not
// the person: some return all lines with the same ending, add a byte order mark, or drop a
// character that looks like one.
func (f form) restored(proposal, answer string) string {
	switch {
	case !strings.HasPrefix(proposal, mark):
		answer = strings.TrimPrefix(answer, mark)
	case !strings.HasPrefix(answer, mark):
		answer = mark + answer
	}
	was, is := lineEnding(proposal), lineEnding(answer)
	switch {
	case is == "", is == "mixed", is == was, was == "mixed" && f.shows:
		return answer
	case was == "":
		return plainLines(answer)
	}
	return withEndings(answer, proposal)
}

// plainLines returns s with plain line endings.
func plainLines(s string) string { return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s) }

// withEndings returns text with the line endings of like: a line of both keeps its own, one that
// replaces a line takes the ending of that, and a new one that of the line before.
func withEndings(text, like string) string {
	ends := endings(like)
	d := diff.Lines(plainLines(like), plainLines(text))
	var b strings.Builder
	last := ends[0]
	put := func(line string, at int) {
		if at >= 0 && at < len(ends) {
			last = ends[at]
		}
		if line, ended := strings.CutSuffix(line, "\n"); ended {
			b.WriteString(line + last)
		} else {
			b.WriteString(line)
		}
	}
	i, j := 0, 0
	for _, e := range append(d.Edits, diff.Edit{AStart: len(d.A), AEnd: len(d.A), BStart: len(d.B), BEnd: len(d.B)}) {
		for ; j < e.BStart; i, j = i+1, j+1 {
			put(d.B[j], i)
		}
		for ; j < e.BEnd; j++ {
			at := -1
			if i < e.AEnd {
				at = i
				i++
			}
			put(d.B[j], at)
		}
		i = e.AEnd
	}
	return b.String()
}

// endings returns the line ending of each line of s that has one.
func endings(s string) (all []string) {
	for {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			return all
		}
		n := 1
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		all = append(all, s[i:i+n])
		s = s[i+n:]
	}
}
