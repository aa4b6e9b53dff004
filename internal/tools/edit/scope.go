package edit

import (
	"fmt"
	"slices"
	"strings"
)

// scope limits the places of a hunk in a patch of several files.
type scope struct {
	anchors []string // lines above the hunk, each below the one before
	atEnd   bool     // the hunk ends at the end of the file
	first   bool     // the hunk may be above those before
}

// add adds the anchor of a @@ line, if it has one.
func (s *scope) add(header string) {
	anchor := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(header[len("@@"):]), "@@"))
	if anchor != "" && anchor != "..." {
		s.anchors = append(s.anchors, anchor)
	}
}

// region is a range of lines.
type region struct{ from, to int }

// regions returns the parts of the file that the anchors lead to: each anchor's line and
// the deeper ones below it, or all lines below it if the next is no deeper. An anchor that
// is nowhere is passed over, and all is false.
func (s *scope) regions(lines []line) (found []region, all bool) {
	found, all = []region{{0, len(lines)}}, true
	for _, anchor := range s.anchors {
		var inner []region
		for _, b := range found {
			for i := b.from; i < b.to; i++ {
				if isAnchor(lines[i].text, anchor) {
					inner = append(inner, region{i, blockEnd(lines, i, b.to)})
				}
			}
		}
		if len(inner) == 0 {
			all = false
			continue
		}
		found = inner
	}
	return found, all
}

// isAnchor reports whether a line is the one that anchor names, perhaps without its end,
// as in "class A" for "class A(B):".
func isAnchor(line, anchor string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, anchor) && wordBorder(line, len(anchor))
}

// blockEnd returns the end of the block that lines[i] begins, at most limit. Lines
// without a word at their beginning, such as brackets, do not end it.
func blockEnd(lines []line, i, limit int) int {
	depth := len(indentOf(lines[i].text))
	deeper := false
	for j := i + 1; j < limit; j++ {
		text := lines[j].text
		indent := len(indentOf(text))
		switch {
		case indent == len(text), indent <= depth && !startsWord(text[indent:]):
		case indent > depth:
			deeper = true
		case !deeper:
			return limit
		default:
			return j
		}
	}
	return limit
}

func startsWord(s string) bool {
	return s[0] == '_' || s[0] == '@' || s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= 0x80
}

// within returns the places in the scope: of those at the end of the file, if there has
// to be one and there is.
func (s *scope) within(lines []line, found []placement) []placement {
	regions, _ := s.regions(lines)
	in := slices.DeleteFunc(slices.Clone(found), func(p placement) bool {
		end := p.at + len(p.hunk.Old)
		return !slices.ContainsFunc(regions, func(r region) bool { return p.at >= r.from && end <= r.to })
	})
	last := slices.IndexFunc(in, func(p placement) bool { return p.at+len(p.hunk.Old) == len(lines) })
	if s.atEnd && last >= 0 {
		return in[last : last+1]
	}
	return in
}

// outside explains that a hunk's lines are not below its anchors.
func (s *scope) outside(elsewhere []placement) error {
	var at []int
	for _, p := range elsewhere[:min(len(elsewhere), maxPlaces)] {
		at = append(at, p.at+1)
	}
	return fmt.Errorf("its lines are not below %q, but at line %s: read the file and send the @@ line and the context exactly",
		short(s.anchors[len(s.anchors)-1]), joinInts(at))
}
