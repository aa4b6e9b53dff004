package vi

import (
	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
)

// target is the destination of a motion.
type target struct {
	at        int
	inclusive bool // operators include the glyph there
	lines     bool // operators take whole lines
}

var seeks = map[string]bool{"f": true, "F": true, "t": true, "T": true}

// find is the last f, F, t or T with its character.
type find struct{ key, char string }

// times returns the count of a motion.
func (m *Mode) times() int {
	return min(max(1, m.cmd.count)*max(1, m.cmd.opN), maxCount)
}

// motion returns the destination of a motion; false if key is not a motion, or has no
// destination.
func (m *Mode) motion(t *edit.Text, key string) (target, bool) {
	gs, at := t.Gs, t.At
	start, end := lineStart(gs, at), lineEnd(gs, at)
	n := m.times()
	switch key {
	case "h":
		return target{at: max(start, at-n)}, true
	case "l", " ":
		return target{at: min(end, at+n)}, true
	case "0":
		return target{at: start}, true
	case "^":
		return target{at: firstWord(gs, start)}, true
	case "$":
		return target{at: end}, true
	case "w", "W", "b", "B", "e", "E":
		return words(gs, at, key, n), true
	case "G":
		return m.lineNumber(gs, len(gs)), true
	case "gg":
		return m.lineNumber(gs, 0), true
	case "j", "k":
		return m.vertical(gs, at, key)
	case ";", ",":
		return m.findAgain(gs, at, key == ",")
	}
	if len(key) > 1 && seeks[key[:1]] {
		m.last = find{key[:1], key[1:]}
		return seek(gs, at, m.last, n, false)
	}
	return target{}, false
}

// vertical moves n lines down or up, for operators only.
func (m *Mode) vertical(gs []edit.Glyph, at int, key string) (target, bool) {
	for range min(m.times(), len(gs)+1) {
		if key == "j" {
			if at = lineEnd(gs, at) + 1; at > len(gs) {
				return target{}, false
			}
		} else {
			if at = lineStart(gs, at) - 1; at < 0 {
				return target{}, false
			}
		}
	}
	return target{at: at, lines: true}, true
}

// lineNumber moves to the line given by the count.
func (m *Mode) lineNumber(gs []edit.Glyph, at int) target {
	if m.cmd.count > 0 {
		at = 0
		for range min(m.cmd.count-1, len(gs)) {
			if next := lineEnd(gs, at) + 1; next <= len(gs) {
				at = next
			}
		}
	}
	return target{at: firstWord(gs, lineStart(gs, at)), lines: true}
}

// findAgain repeats the last f, F, t or T, in the opposite direction if back.
func (m *Mode) findAgain(gs []edit.Glyph, at int, back bool) (target, bool) {
	f := m.last
	if f.key == "" {
		return target{}, false
	}
	if back {
		f.key = map[string]string{"f": "F", "F": "f", "t": "T", "T": "t"}[f.key]
	}
	return seek(gs, at, f, m.times(), true)
}

// seek finds the nth occurrence of a character in the line. again lets t and T continue from
// the position before one.
func seek(gs []edit.Glyph, at int, f find, n int, again bool) (target, bool) {
	step, short := 1, 0
	if f.key == "F" || f.key == "T" {
		step = -1
	}
	if f.key == "t" || f.key == "T" {
		short = -step
	}
	i := at
	if again && short != 0 {
		i += step
	}
	for i += step; i >= 0 && i < len(gs) && !gs[i].IsNewline(); i += step {
		if gs[i].Text == f.char {
			if n--; n == 0 {
				return target{at: i + short, inclusive: step > 0}, true
			}
		}
	}
	return target{}, false
}

// words moves to the nth beginning or end of a word.
func words(gs []edit.Glyph, at int, key string, n int) target {
	big := key == "W" || key == "B" || key == "E"
	kind := func(i int) int { return kindOf(gs[i], big) }
	for range min(n, len(gs)+1) {
		switch key {
		case "w", "W":
			at = wordOn(len(gs), at, kind)
		case "b", "B":
			at = wordBack(at, kind)
		default:
			at = wordEnd(len(gs), at, kind)
		}
	}
	return target{at: at, inclusive: key == "e" || key == "E"}
}

// wordOn returns the start of the next word among n glyphs.
func wordOn(n, at int, kind func(int) int) int {
	if at < n && kind(at) != 0 {
		for k := kind(at); at < n && kind(at) == k; at++ {
		}
	}
	for at < n && kind(at) == 0 {
		at++
	}
	return at
}

// wordBack returns the start of the previous word.
func wordBack(at int, kind func(int) int) int {
	for at > 0 && kind(at-1) == 0 {
		at--
	}
	if at > 0 {
		for k := kind(at - 1); at > 0 && kind(at-1) == k; at-- {
		}
	}
	return at
}

// wordEnd returns the end of the next word among n glyphs.
func wordEnd(n, at int, kind func(int) int) int {
	for at+1 < n && kind(at+1) == 0 {
		at++
	}
	if at+1 < n {
		for k := kind(at + 1); at+1 < n && kind(at+1) == k; at++ {
		}
	}
	return at
}

// kindOf returns 0 for blanks and distinguishes words from other characters.
func kindOf(g edit.Glyph, big bool) int {
	switch {
	case g.IsSpace():
		return 0
	case big || g.IsWord():
		return 1
	}
	return 2
}

// object returns the word at the cursor, or the blanks; for a, with the blanks after it.
func object(gs []edit.Glyph, at int, wait, c string) (from, to int, ok bool) {
	if c != "w" && c != "W" || at >= len(gs) || gs[at].IsNewline() {
		return 0, 0, false
	}
	same := func(i, j int) bool {
		return !gs[i].IsNewline() && kindOf(gs[i], c == "W") == kindOf(gs[j], c == "W")
	}
	for from = at; from > 0 && same(from-1, at); from-- {
	}
	for to = at + 1; to < len(gs) && same(to, at); to++ {
	}
	if wait == "a" {
		for to < len(gs) && gs[to].IsSpace() && !gs[to].IsNewline() {
			to++
		}
	}
	return from, to, true
}

func lineStart(gs []edit.Glyph, at int) int {
	for at > 0 && !gs[at-1].IsNewline() {
		at--
	}
	return at
}

func lineEnd(gs []edit.Glyph, at int) int {
	for at < len(gs) && !gs[at].IsNewline() {
		at++
	}
	return at
}

// firstWord returns the first non-blank character of a line.
func firstWord(gs []edit.Glyph, start int) int {
	for start < len(gs) && gs[start].IsSpace() && !gs[start].IsNewline() {
		start++
	}
	return start
}
