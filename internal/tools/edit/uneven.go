package edit

import "strings"

// levels maps the indentation of lines sent to that of the lines of a file.
type levels struct {
	of       map[string]string // without those that are several in the file
	num, den int               // the ratio of the two if both are blanks and all lines have the same; zero otherwise
	sent     string            // one of them, for the ratio
	clear    bool              // none is several
}

// unevenWindows finds want in lines whatever the indentation of each line, and blanks at its end.
// One of them has to hold a word: brackets say nothing about a place.
func unevenWindows(lines []line, want []string) (at []int, shifts []shift) {
	sent, have := make([]indented, len(want)), make([]indented, len(lines))
	words := false
	for i, w := range want {
		sent[i] = newIndented(w)
		words = words || strings.ContainsFunc(w, isWord)
	}
	if !words {
		return nil, nil
	}
	for i, l := range lines {
		have[i] = newIndented(l.text)
	}
	for i := 0; i+len(sent) <= len(have); i++ {
		if l := levelsBetween(have[i:i+len(sent)], sent); l != nil {
			at = append(at, i)
			shifts = append(shifts, shift{levels: l})
		}
	}
	return at, shifts
}

// levelsBetween returns the mapping from the indentation of want to that of have, or nil if the
// lines differ otherwise.
func levelsBetween(have, want []indented) *levels {
	for i, w := range want {
		if w.rest != have[i].rest {
			return nil
		}
	}
	l := &levels{of: map[string]string{}}
	several, same := map[string]bool{}, true
	for i, w := range want {
		if w.rest == "" {
			continue
		}
		to, again := l.of[w.indent]
		if again && to != have[i].indent {
			several[w.indent] = true
		}
		l.of[w.indent] = have[i].indent
		same = same && w.indent == have[i].indent
	}
	if same {
		return nil // stricter stages cover it
	}
	l.measure()
	l.clear = len(several) == 0
	for indent := range several {
		delete(l.of, indent)
	}
	return l
}

// measure finds the ratio.
func (l *levels) measure() {
	least, most, first := "", "", true
	for sent, have := range l.of {
		if strings.Trim(sent+have, " ") != "" {
			return
		}
		if first || len(sent) < len(least) {
			least, first = sent, false
		}
		if len(sent) > len(most) {
			most = sent
		}
	}
	num, den := len(l.of[most])-len(l.of[least]), len(most)-len(least)
	for sent, have := range l.of {
		if den == 0 || num <= 0 || (len(have)-len(l.of[least]))*den != (len(sent)-len(least))*num {
			return
		}
	}
	l.num, l.den, l.sent = num, den, least
}

// apply returns s with the file's indentation. ok is false if that of s does not tell it.
func (l *levels) apply(s string) (moved string, ok bool) {
	indent := indentOf(s)
	rest := s[len(indent):]
	if to, ok := l.of[indent]; ok {
		return to + rest, true
	}
	if !l.clear {
		return "", false
	}
	if l.num > 0 && strings.Trim(indent, " ") == "" {
		steps := (len(indent) - len(l.sent)) * l.num
		count := len(l.of[l.sent]) + steps/l.den
		return strings.Repeat(" ", max(0, count)) + rest, steps%l.den == 0 && count >= 0
	}
	base, deepest := "", false
	for sent := range l.of {
		if within := strings.HasPrefix(indent, sent); len(sent) > len(base) || len(sent) == len(base) && within {
			base, deepest = sent, within // of two that are as deep, the one that s begins with
		}
	}
	if to := l.of[base]; deepest && strings.Trim(to, indent[len(indent)-1:]) == "" && strings.Trim(indent[len(base):], indent[len(indent)-1:]) == "" {
		return to + indent[len(base):] + rest, true
	}
	return "", false
}
