package edit

import "strings"

// tabs converts indentation between blanks and tabs: blanks = unit*tabs + extra.
type tabs struct {
	unit, extra int
	toTabs      bool // the file has tabs
	least, most int  // the indentation sent for the lines that matched
}

// apply returns s with its indentation converted. ok is false if the indentation sent is
// of another kind, or does not follow from the lines that matched.
func (t *tabs) apply(s string) (moved string, ok bool) {
	indent := indentOf(s)
	n := len(indent)
	kind, other := "\t", " "
	if t.toTabs {
		kind, other = other, kind
	}
	if strings.Trim(indent, kind) != "" {
		return "", false
	}
	usual := t.extra == 0 && t.unit >= 2 && t.unit <= 4
	if !usual && (n < t.least || n > t.most) {
		return "", false
	}
	count := n*t.unit + t.extra
	if t.toTabs {
		if (n-t.extra)%t.unit != 0 {
			return "", false
		}
		count = (n - t.extra) / t.unit
	}
	if count < 0 {
		return "", false
	}
	return strings.Repeat(other, count) + s[n:], true
}

// tabWindows finds want in lines with blanks for tabs, or tabs for blanks, as the
// indentation of every line.
func tabWindows(lines []line, want []string) (at []int, shifts []shift) {
	have, sent := make([]indented, len(lines)), make([]indented, len(want))
	for i, l := range lines {
		have[i] = newIndented(l.text)
	}
	for i, w := range want {
		sent[i] = newIndented(w)
	}
	for i := 0; i+len(sent) <= len(have); i++ {
		if t := tabsBetween(have[i:i+len(sent)], sent); t != nil {
			at = append(at, i)
			shifts = append(shifts, shift{tabs: t})
		}
	}
	return at, shifts
}

// indented is a line without the blanks at its end; rest is empty for a blank one.
type indented struct{ indent, rest string }

func newIndented(s string) indented {
	s = lineKey(s, Blanks)
	indent := indentOf(s)
	return indented{indent, s[len(indent):]}
}

// tabsBetween returns the conversion from the indentation of want to that of have, or nil
// if the lines differ otherwise or no conversion fits all of them.
func tabsBetween(have, want []indented) *tabs {
	for i, w := range want {
		if w.rest != have[i].rest {
			return nil
		}
	}
	var sent, file []int
	var sentIndent, fileIndent strings.Builder // the indentation of either side, joined
	for i, w := range want {
		if w.rest == "" {
			continue
		}
		sent, file = append(sent, len(w.indent)), append(file, len(have[i].indent))
		sentIndent.WriteString(w.indent)
		fileIndent.WriteString(have[i].indent)
	}
	blanks, tabbed := sentIndent.String(), fileIndent.String()
	if blanks == "" || tabbed == "" {
		return nil
	}
	t := &tabs{toTabs: blanks[0] == ' '}
	t.least, t.most = sent[0], sent[0]
	for _, n := range sent {
		t.least, t.most = min(t.least, n), max(t.most, n)
	}
	if !t.toTabs {
		blanks, tabbed, sent, file = tabbed, blanks, file, sent
	}
	if strings.Trim(blanks, " ") != "" || strings.Trim(tabbed, "\t") != "" || !t.solve(sent, file) {
		return nil
	}
	return t
}

// solve finds unit and extra for the numbers of blanks and tabs of the lines. It prefers
// no extra, as with lines that were not shifted.
func (t *tabs) solve(blanks, tabs []int) bool {
	fits := func() bool {
		for i := range blanks {
			if blanks[i] != t.unit*tabs[i]+t.extra {
				return false
			}
		}
		return true
	}
	for i := range tabs {
		if tabs[i] > 0 && blanks[i]%tabs[i] == 0 && blanks[i] > 0 {
			t.unit = blanks[i] / tabs[i]
			break
		}
	}
	if t.unit > 0 && fits() {
		return true
	}
	for i := range tabs {
		run := tabs[i] - tabs[0]
		if run == 0 || (blanks[i]-blanks[0])%run != 0 {
			continue
		}
		t.unit = (blanks[i] - blanks[0]) / run
		t.extra = blanks[0] - t.unit*tabs[0]
		return t.unit >= 2 && t.unit <= 4 && fits()
	}
	return false
}
