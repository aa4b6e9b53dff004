package vi

import "github.com/bb2d0cf4/agent/internal/repl/input/edit"

// visual is the state of visual mode.
type visual struct {
	on    bool
	lines bool // V: whole lines
	from  int  // the first glyph
	edits int  // edit count of the text; another count ends the selection
	keyed bool // a key was used that the dot does not record
}

// start starts a selection at the cursor.
func (v *visual) start(t *edit.Text, lines bool) {
	*v = visual{on: true, lines: lines, from: t.At, edits: t.Edits()}
}

// span returns the selection, including the glyph under the cursor.
func (v *visual) span(t *edit.Text) span {
	return span{from: min(v.from, t.At), to: min(max(v.from, t.At)+1, len(t.Gs)), lines: v.lines}
}

// Selected returns the range of the selection, the end exclusive; ok is false if there is
// none.
func (m *Mode) Selected(t *edit.Text) (from, to int, ok bool) {
	if !m.selecting(t) {
		return 0, 0, false
	}
	s := m.visual.span(t)
	if s.lines {
		s.from, s.to = lineStart(t.Gs, s.from), lineEnd(t.Gs, max(s.to-1, s.from))
		s.to = min(s.to+1, len(t.Gs))
	}
	return s.from, s.to, true
}

// selecting reports whether visual mode is on. Any other change of the text, such as a paste,
// ends it.
func (m *Mode) selecting(t *edit.Text) bool {
	v := &m.visual
	v.on = v.on && m.normal && v.edits == t.Edits() && v.from <= len(t.Gs)
	return v.on
}

// visually handles a character in visual mode.
func (m *Mode) visually(t *edit.Text, c string) Result {
	v, cmd := &m.visual, &m.cmd
	switch {
	case cmd.wait != "":
		m.selectArgument(t, c)
	case c >= "1" && c <= "9" || c == "0" && cmd.count > 0:
		cmd.count = min(cmd.count*10+int(c[0]-'0'), maxCount)
		return Done
	case waits("v", c):
		cmd.wait = c
		return Done
	case m.operates(t, c):
		return Done
	case c == "v" || c == "V":
		if lines := c == "V"; v.lines == lines {
			*v = visual{}
			m.again.keys = nil
		} else {
			v.lines = lines
		}
	case c == "o":
		at := t.At
		t.MoveTo(v.from)
		v.from = at
	case c == "j" || c == "k":
		m.byLines(t, c)
	default:
		if to, ok := m.motion(t, c); ok {
			t.MoveTo(to.at)
		}
	}
	m.cmd = command{}
	clamp(t)
	return Done
}

// overSelection maps the operators of visual mode to those of normal mode; a capital letter
// takes whole lines.
var overSelection = map[string]string{
	"d": "d", "x": "d", "D": "d", "X": "d", "c": "c", "s": "c", "C": "c", "S": "c", "R": "c", "y": "y", "Y": "y", ">": ">", "<": "<",
}

// operates applies an operator to the selection and ends visual mode; it returns false if c
// is not an operator.
func (m *Mode) operates(t *edit.Text, c string) bool {
	op, ok := overSelection[c]
	if !ok {
		return false
	}
	s := m.visual.span(t)
	s.lines = s.lines || c >= "A" && c <= "Z"
	if (s.lines || op == ">" || op == "<") && s.to > s.from {
		s.to-- // exclude the newline at the end of the line
	}
	if m.visual.keyed {
		m.again.keys = nil
	}
	m.cmd.op, m.visual = op, visual{}
	switch op {
	case ">", "<":
		m.shift(t, s, op == ">", max(1, m.cmd.count))
	case "y":
		m.apply(t, s)
		t.MoveTo(s.from)
	default:
		m.apply(t, s)
	}
	m.finish(t, Done)
	return true
}

// selectArgument handles the character that a command waits for: a motion, or a word to
// select.
func (m *Mode) selectArgument(t *edit.Text, c string) {
	wait := m.cmd.wait
	m.cmd.wait = ""
	key := wait + c
	switch {
	case wait == "i" || wait == "a":
		if from, to, ok := object(t.Gs, t.At, wait, c); ok {
			m.visual.from = from
			t.MoveTo(to - 1)
		}
		return
	case wait == "g" && c != "g":
		return
	}
	if to, ok := m.motion(t, key); ok {
		t.MoveTo(to.at)
	}
}

// byLines moves the cursor down or up by lines, to the same column.
func (m *Mode) byLines(t *edit.Text, c string) {
	to, ok := m.vertical(t.Gs, t.At, c)
	if !ok {
		return
	}
	column := t.At - lineStart(t.Gs, t.At)
	start := lineStart(t.Gs, to.at)
	t.MoveTo(min(start+column, lineEnd(t.Gs, to.at)))
}

// shiftWidth is the shift of > and <, in columns.
const shiftWidth = 4

// shift shifts the lines of a span right or left, n times.
func (m *Mode) shift(t *edit.Text, s span, right bool, n int) {
	n, s = min(n, 20), span{from: lineStart(t.Gs, s.from), to: lineEnd(t.Gs, s.to)}
	var gs []edit.Glyph
	for at := s.from; at <= s.to; {
		end := lineEnd(t.Gs, at)
		line := t.Gs[at:end]
		switch {
		case !right:
			line = line[indent(line, n*shiftWidth):]
		case len(line) > 0:
			for range n * shiftWidth {
				gs = append(gs, edit.Glyph{Text: " ", Show: " ", Width: 1})
			}
		}
		gs = append(gs, line...)
		if end < s.to {
			gs = append(gs, edit.Newline)
		}
		at = end + 1
	}
	t.MoveTo(s.from)
	t.Edit(edit.Other, func() {
		t.Remove(s.from, s.to)
		t.At = s.from
		t.Insert(gs...)
	})
	t.MoveTo(firstWord(t.Gs, s.from))
	m.changed()
}

// indent returns the number of leading blank glyphs of a line, up to a width in columns.
func indent(line []edit.Glyph, columns int) int {
	i := 0
	for ; i < len(line) && columns > 0; i++ {
		switch line[i].Text {
		case " ":
			columns--
		case "\t":
			columns -= line[i].Width
		default:
			return i
		}
	}
	return i
}
