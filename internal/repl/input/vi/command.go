package vi

import (
	"strings"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
)

// char handles a character in normal mode; done is false while a command is incomplete.
func (m *Mode) char(t *edit.Text, c string) (res Result, done bool) {
	cmd := &m.cmd
	switch {
	case cmd.wait != "":
		return Done, m.argument(t, c)
	case c >= "1" && c <= "9" || c == "0" && cmd.count > 0:
		cmd.count = min(cmd.count*10+int(c[0]-'0'), maxCount)
		return Done, false
	case waits(cmd.op, c):
		cmd.wait = c
		return Done, false
	case cmd.op != "":
		m.operator(t, c)
		return Done, true
	case c == "v" || c == "V":
		m.visual.start(t, c == "V")
		return Done, false
	case operators[c]:
		cmd.op, cmd.opN, cmd.count = c, cmd.count, 0
		return Done, false
	case c == "j" || c == "k": // by rows
		return m.action(t, c), true
	}
	if to, ok := m.motion(t, c); ok {
		t.MoveTo(to.at)
		return Done, true
	}
	if keys, ok := short[c]; ok {
		return Done, m.expand(t, keys)
	}
	return m.action(t, c), true
}

var operators = map[string]bool{"d": true, "c": true, "y": true, ">": true, "<": true}

// waits reports whether c needs another character, after the operator op or none.
func waits(op, c string) bool {
	switch c {
	case "g":
		return true
	case "r":
		return op == ""
	case "i", "a":
		return op != ""
	}
	return seeks[c]
}

// short maps commands to the longer ones that they abbreviate.
var short = map[string]string{"x": "dl", "X": "dh", "D": "d$", "C": "c$", "S": "cc", "s": "cl", "Y": "yy"}

// expand runs the longer command of an abbreviation.
func (m *Mode) expand(t *edit.Text, keys string) (done bool) {
	for _, k := range keys {
		_, done = m.char(t, string(k))
	}
	return done
}

// action runs commands without a motion.
func (m *Mode) action(t *edit.Text, c string) Result {
	n := max(1, m.cmd.count)
	switch c {
	case "k", "-":
		return Up
	case "j", "+":
		return Down
	case "/":
		return Search
	case "u":
		for range min(n, 200) {
			t.Undo()
		}
	case ".":
		m.dot(t)
	case "p", "P":
		m.put(t, c == "p", n)
	case "~":
		m.toggle(t, n)
	default:
		m.enter(t, c)
	}
	return Done
}

// enter handles the commands that start insert mode.
func (m *Mode) enter(t *edit.Text, c string) {
	start, end := lineStart(t.Gs, t.At), lineEnd(t.Gs, t.At)
	switch c {
	case "i":
	case "a":
		t.MoveTo(min(t.At+1, end))
	case "I":
		t.MoveTo(firstWord(t.Gs, start))
	case "A":
		t.MoveTo(end)
	case "o":
		t.MoveTo(end)
		t.Edit(edit.Other, func() { t.Insert(edit.Newline) })
	case "O":
		t.MoveTo(start)
		t.Edit(edit.Other, func() { t.Insert(edit.Newline) })
		t.MoveTo(start)
	default:
		return
	}
	m.insert()
}

func (m *Mode) insert() { m.normal = false }

// argument handles the character that a command waits for.
func (m *Mode) argument(t *edit.Text, c string) (done bool) {
	wait := m.cmd.wait
	m.cmd.wait = ""
	switch {
	case wait == "r":
		m.replace(t, c)
		return true
	case wait == "i" || wait == "a":
		if from, to, ok := object(t.Gs, t.At, wait, c); ok {
			m.apply(t, span{from: from, to: to})
		}
		return true
	case wait == "g" && c != "g":
		return true
	}
	key := wait + c
	if wait == "g" {
		key = "gg"
	}
	switch to, ok := m.motion(t, key); {
	case !ok:
	case m.cmd.op != "":
		m.apply(t, m.between(t, to, key))
	default:
		t.MoveTo(to.at)
	}
	return true
}

// operator applies d, c, y, > or < to a motion or, if doubled, to whole lines.
func (m *Mode) operator(t *edit.Text, c string) {
	if c == m.cmd.op {
		to := t.At
		for range min(m.times(), len(t.Gs)+1) - 1 {
			to = min(lineEnd(t.Gs, to)+1, len(t.Gs))
		}
		m.apply(t, span{from: t.At, to: to, lines: true})
		return
	}
	if c == "w" || c == "W" {
		if m.cmd.op == "c" && t.At < len(t.Gs) && !t.Gs[t.At].IsSpace() {
			c = map[string]string{"w": "e", "W": "E"}[c] // as in vi
		}
	}
	if to, ok := m.motion(t, c); ok {
		m.apply(t, m.between(t, to, c))
	}
}

// span is the text under an operator.
type span struct {
	from, to int
	lines    bool
}

// between returns the span from the cursor to a target.
func (m *Mode) between(t *edit.Text, to target, key string) span {
	from, end := min(t.At, to.at), max(t.At, to.at)
	if to.inclusive {
		end = min(end+1, len(t.Gs))
	}
	if key == "w" || key == "W" { // a word at the end of a line ends there
		if e := lineEnd(t.Gs, from); e > from && e < end {
			end = e
		}
	}
	return span{from, end, to.lines}
}

// apply applies the operator.
func (m *Mode) apply(t *edit.Text, s span) {
	op := m.cmd.op
	if op == ">" || op == "<" {
		m.shift(t, s, op == ">", 1)
		return
	}
	if s.lines {
		s.from, s.to = lineStart(t.Gs, s.from), lineEnd(t.Gs, s.to)
	}
	if s.from == s.to && !s.lines && op != "c" {
		return
	}
	if s.from < s.to || s.lines {
		m.cut = cut{append([]edit.Glyph(nil), t.Gs[s.from:s.to]...), s.lines}
	}
	switch {
	case op != "y":
		m.remove(t, s)
	case !s.lines:
		t.MoveTo(s.from)
	}
}

// remove deletes the span of d or c.
func (m *Mode) remove(t *edit.Text, s span) {
	op := m.cmd.op
	if s.lines && op == "d" { // with the newline before or after it
		if s.to < len(t.Gs) {
			s.to++
		} else if s.from > 0 {
			s.from--
		}
	}
	t.MoveTo(s.from) // the cursor after undo
	t.Kill(s.from, s.to)
	t.MoveTo(s.from)
	switch {
	case op == "c":
		m.insert()
	case s.lines:
		t.MoveTo(firstWord(t.Gs, lineStart(t.Gs, t.At)))
		m.changed()
	default:
		m.changed()
	}
}

// put inserts the last cut n times, after the cursor or before it.
func (m *Mode) put(t *edit.Text, behind bool, n int) {
	n = min(n, 1+maxCount/max(1, len(m.cut.gs)))
	var gs []edit.Glyph
	for range n {
		gs = append(gs, m.cut.gs...)
		if m.cut.lines {
			gs = append(gs, edit.Newline)
		}
	}
	if len(gs) == 0 {
		return
	}
	at := t.At
	switch {
	case m.cut.lines && behind:
		at = lineEnd(t.Gs, t.At)
		gs = append([]edit.Glyph{edit.Newline}, gs[:len(gs)-1]...)
	case m.cut.lines:
		at = lineStart(t.Gs, t.At)
	case behind:
		at = min(at+1, lineEnd(t.Gs, at))
	}
	t.MoveTo(at)
	t.Edit(edit.Other, func() { t.Insert(gs...) })
	switch {
	case m.cut.lines && behind:
		t.MoveTo(firstWord(t.Gs, min(at+1, len(t.Gs))))
	case m.cut.lines:
		t.MoveTo(firstWord(t.Gs, at))
	default:
		t.MoveTo(t.At - 1)
	}
	m.changed()
}

// replace replaces characters at the cursor with c.
func (m *Mode) replace(t *edit.Text, c string) {
	m.over(t, max(1, m.cmd.count), true, func(edit.Glyph) string { return c })
}

// toggle switches between upper and lower case.
func (m *Mode) toggle(t *edit.Text, n int) {
	n = min(n, lineEnd(t.Gs, t.At)-t.At)
	m.over(t, n, false, func(g edit.Glyph) string {
		if g.Folded {
			return ""
		}
		return strings.Map(func(r rune) rune {
			if up := unicode.ToUpper(r); up != r {
				return up
			}
			return unicode.ToLower(r)
		}, g.Text)
	})
}

// over overwrites n characters, if the line has as many. A placeholder stays if with returns
// an empty text.
func (m *Mode) over(t *edit.Text, n int, stay bool, with func(edit.Glyph) string) {
	from := t.At
	if n < 1 || from+n > lineEnd(t.Gs, from) {
		return
	}
	var gs []edit.Glyph
	for _, g := range t.Gs[from : from+n] {
		if text := with(g); text != "" {
			gs = append(gs, edit.Glyphs(text)...)
		} else {
			gs = append(gs, g)
		}
	}
	t.Edit(edit.Other, func() {
		t.Remove(from, from+n)
		t.At = from
		t.Insert(gs...)
	})
	if stay {
		t.MoveTo(t.At - 1)
	}
	m.changed()
}
