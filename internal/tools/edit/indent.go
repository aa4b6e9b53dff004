package edit

import "strings"

// shift is a change of indentation. It is the same for every line if add is prepended or cut
// removed, or tabs converts it; else levels maps it. The others are empty.
type shift struct {
	add, cut string
	tabs     *tabs
	levels   *levels
}

// apply returns s shifted, blank lines unchanged. ok is false if s has too little
// indentation.
func (sh shift) apply(s string) (string, bool) {
	if strings.TrimRight(s, " \t\r") == "" {
		return s, true
	}
	switch {
	case sh.tabs != nil:
		return sh.tabs.apply(s)
	case sh.levels != nil:
		return sh.levels.apply(s)
	}
	rest, ok := strings.CutPrefix(s, sh.cut)
	return sh.add + rest, ok
}

// shiftBetween returns the shift from the indentation of want to that of have.
func shiftBetween(have, want string) (shift, bool) {
	h, w := indentOf(have), indentOf(want)
	if have[len(h):] != want[len(w):] {
		return shift{}, false
	}
	if add, ok := strings.CutSuffix(h, w); ok {
		return shift{add: add}, true
	}
	if cut, ok := strings.CutSuffix(w, h); ok {
		return shift{cut: cut}, true
	}
	return shift{}, false
}

func indentOf(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, " \t"))]
}

// shiftedWindows finds want in lines with one shift for all lines that are not blank. An
// empty shift does not count: stricter stages cover it.
func shiftedWindows(lines []line, want []string) (at []int, shifts []shift) {
	trimmed := make([]string, len(want))
	first := -1
	for i, w := range want {
		trimmed[i] = lineKey(w, Indentation)
		if first < 0 && trimmed[i] != "" {
			first = i
		}
	}
	if first < 0 {
		return nil, nil
	}
	for i := 0; i+len(want) <= len(lines); i++ {
		sh, ok := shiftBetween(lineKey(lines[i+first].text, Indentation), trimmed[first])
		if ok && sh != (shift{}) && shiftMatches(lines[i:], trimmed, sh) {
			at = append(at, i)
			shifts = append(shifts, sh)
		}
	}
	return at, shifts
}

func shiftMatches(lines []line, want []string, sh shift) bool {
	for i, w := range want {
		moved, ok := sh.apply(w)
		if !ok || moved != lineKey(lines[i].text, Indentation) {
			return false
		}
	}
	return true
}

// findShifted matches whole lines. Lines that before and after share stay as in the file.
func findShifted(text, before, after string, stage Stage, all bool) []match {
	lines := split(text)
	want, fill := textLines(before), textLines(after)
	at, shifts := windows(lines, want, stage)
	changed := sharedLines(joinLines(want), joinLines(fill), Blanks).Edits
	var found []match
	last := 0
	for i, w := range at {
		if all && w < last {
			continue
		}
		m := match{}
		m.from, m.to = bounds(lines, w, w+len(want), len(text))
		shifted := true
		for _, e := range changed {
			moved, ok := shifts[i].run(fill[e.BStart:e.BEnd], want[e.AStart:e.AEnd], lines[w+e.AStart:w+e.AEnd])
			shifted = shifted && ok
			m.edits = append(m.edits, lineSpan(text, lines, w+e.AStart, w+e.AEnd, moved))
		}
		if shifted || stage == Uneven && len(at) > 1 { // the places are listed
			last = w + len(want)
			found = append(found, m)
		}
	}
	return found
}

// run returns fill, the lines in place of those sent, shifted to where have is in the file. ok is
// false if one of them cannot be.
func (sh shift) run(fill, sent []string, have []line) (out []string, ok bool) {
	for i, l := range fill {
		moved, ok := sh.apply(l)
		if indent := indentOf(l); sh.levels != nil && len(fill) == len(sent) && indent == indentOf(sent[i]) && indent != l {
			moved, ok = indentOf(have[i].text)+l[len(indent):], true
		}
		if !ok {
			return nil, false
		}
		out = append(out, moved)
	}
	return out, true
}
