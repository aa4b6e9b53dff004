package edit

import (
	"fmt"
	"slices"
	"strings"
)

// nearContext is the number of lines shown around a place if there is room.
const nearContext = 3

// nearest returns the places of the file most similar to the lines sent, formatted in at
// most room bytes, or the first one with its exact text. A short file without such a place is
// returned whole.
func (s *similarity) nearest(room int) []string {
	var shown []string
	for _, p := range s.found {
		text := s.format(p, room, len(shown) == 0)
		if text == "" {
			break
		}
		shown = append(shown, text)
		room -= len(text)
	}
	if len(s.found) > 0 || len(s.have) == 0 || !s.searched() {
		return shown
	}
	if all := s.exactly(place{to: len(s.have)}, room, false); all != "" {
		shown = append(shown, all)
	}
	return shown
}

// row is a line of a diff between the lines sent and those of the file.
type row struct {
	sign   string // " ", "-" for a line only sent, "+" for one only in the file
	number int    // in the file, 1-based, or zero
	text   string
	note   string // in place of other rows, which it names
}

// format formats a place: as a diff, or as the file's side of it. If neither fits in room and
// long is set, it returns what differs, and the file's exact text within maxMessage.
func (s *similarity) format(p place, room int, long bool) string {
	const both, one = "- as sent, + as in the file; → is a tab, · a blank", "+ differs from what was sent; → is a tab, · a blank"
	rows := s.rows(p)
	file := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.number == 0 })
	if text := marked(both, rows); len(text) <= room {
		return s.widen(p, rows, text, room)
	}
	if text := marked(one, file); len(text) <= room {
		return text
	}
	if !long {
		return ""
	}
	whole := room + maxMessage - maxDiff
	for context := nearContext; context >= 0; context-- {
		if text := marked(both, abridged(rows, context)); len(text) <= room {
			return text + s.exactly(p, whole-len(text), false)
		}
		if text := marked(one, abridged(file, context)); len(text) <= room {
			return text + s.exactly(p, whole-len(text), false)
		}
	}
	return s.exactly(p, whole, true)
}

// exactly returns the file's exact text at p; if it is longer than room, without its middle,
// or "" unless cut is set.
func (s *similarity) exactly(p place, room int, cut bool) string {
	lines := make([]string, 0, p.to-p.from)
	for _, l := range s.have[p.from:p.to] {
		lines = append(lines, l.text+"\n")
	}
	head := fmt.Sprintf("Nearest lines of the file, %d to %d, exactly:\n", p.from+1, p.to)
	switch {
	case len(head)+size(lines) <= room:
		return head + strings.Join(lines, "")
	case !cut:
		return ""
	}
	for j, i := range p.pairs {
		if i >= 0 && len(s.have[i].text) > nearWidth {
			head, _ := common(s.have[i].text, s.want[j])
			lines[i-p.from] = cutAround(s.have[i].text, head) + "\n"
		}
	}
	return head + withoutMiddle(lines, p.from, room-len(head))
}

// cutAround returns the part of a wide line around the byte at.
func cutAround(l string, at int) string {
	const left = "[…]"
	from := max(0, at-nearWidth/4)
	to := min(len(l), from+nearWidth)
	part := strings.ToValidUTF8(l[from:to], "")
	if from > 0 {
		part = left + part
	}
	if to < len(l) {
		part += left
	}
	return part
}

// abridged replaces rows that are the same on both sides, and further than context from
// others, by a note.
func abridged(rows []row, context int) []row {
	near := func(i int) bool {
		return slices.ContainsFunc(rows[max(0, i-context):min(len(rows), i+context+1)], func(r row) bool { return r.sign != " " })
	}
	var out []row
	for i := 0; i < len(rows); i++ {
		first := i
		for i < len(rows) && !near(i) {
			i++
		}
		if i > first {
			out = append(out, row{note: fmt.Sprintf("[lines %d to %d are as sent]\n", rows[first].number, rows[i-1].number)})
		}
		if i < len(rows) {
			out = append(out, rows[i])
		}
	}
	return out
}

// marked formats rows with visible blanks.
func marked(legend string, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Nearest lines of the file (%s):\n", legend)
	for _, r := range rows {
		b.WriteString(r.String())
	}
	return b.String()
}

// String formats r as a line, with the line's number in the file if it has one.
func (r row) String() string {
	switch {
	case r.note != "":
		return r.note
	case r.number == 0:
		return fmt.Sprintf("%s | %s\n", r.sign, Visible(r.text))
	}
	return fmt.Sprintf("%s%d | %s\n", r.sign, r.number, Visible(r.text))
}

// rows returns the diff between the lines sent and a place.
func (s *similarity) rows(p place) []row {
	var rows, added []row
	next := p.from
	add := func(to int) {
		for ; next < to; next++ {
			added = append(added, row{sign: "+", number: next + 1, text: s.have[next].text})
		}
	}
	flush := func() {
		rows = append(rows, added...)
		added = nil
	}
	for j, i := range p.pairs {
		if i >= 0 && s.have[i].text == s.want[j] {
			add(i)
			flush()
			rows = append(rows, row{sign: " ", number: i + 1, text: s.have[i].text})
			next = i + 1
			continue
		}
		rows = append(rows, row{sign: "-", text: s.want[j]})
		if i >= 0 {
			add(i + 1)
		}
	}
	add(p.to)
	flush()
	return rows
}

// widen adds lines of the file around a place to its diff, as far as there is room.
func (s *similarity) widen(p place, rows []row, text string, room int) string {
	if len(s.want) == 1 {
		return text
	}
	left := room - len(text)
	var head, tail []row
	for range nearContext {
		if i := p.from - 1 - len(head); i >= 0 {
			head = append([]row{{sign: " ", number: i + 1, text: s.have[i].text}}, head...)
			left -= len(head[0].String())
			if left < 0 {
				head = head[1:]
				break
			}
		}
		if i := p.to + len(tail); i < len(s.have) {
			tail = append(tail, row{sign: " ", number: i + 1, text: s.have[i].text})
			left -= len(tail[len(tail)-1].String())
			if left < 0 {
				tail = tail[:len(tail)-1]
				break
			}
		}
	}
	first, rest, _ := strings.Cut(text, "\n")
	var b strings.Builder
	b.WriteString(first + "\n")
	for _, r := range head {
		b.WriteString(r.String())
	}
	b.WriteString(rest)
	for _, r := range tail {
		b.WriteString(r.String())
	}
	return b.String()
}

// around shows the lines around the places of lines, so that a model can tell them apart, or ""
// if they do not fit in room.
func around(lines []line, places []region, room int) string {
	for context := 2 * nearContext; context > 0; context-- {
		var b strings.Builder
		b.WriteString("\nThe places (+; → is a tab, · a blank):\n")
		for n, p := range places {
			if n > 0 {
				b.WriteString("--\n")
			}
			var rows []row
			for i := max(0, p.from-context); i < min(len(lines), p.to+context); i++ {
				r := row{sign: " ", number: i + 1, text: lines[i].text}
				if i >= p.from && i < p.to {
					r.sign = "+"
				}
				rows = append(rows, r)
			}
			if inner := p.to - p.from - 2*nearContext; inner > 0 {
				first := p.from + nearContext - rows[0].number + 1
				rows = slices.Replace(rows, first, first+inner, row{note: "[…]\n"})
			}
			for _, r := range rows {
				b.WriteString(r.String())
			}
		}
		if b.Len() <= room {
			return strings.TrimSuffix(b.String(), "\n")
		}
	}
	return ""
}

// withoutMiddle returns the first and last of lines, which begin at index from of the
// file, in room bytes.
func withoutMiddle(lines []string, from, room int) string {
	const note = "[lines %d to %d are left out: read them]\n"
	room -= len(note) + 10
	head, tail, used := 0, 0, 0
	for head+tail < len(lines) {
		next := lines[head]
		if head > tail {
			next = lines[len(lines)-1-tail]
		}
		if used += len(next); used > room {
			break
		}
		if head > tail {
			tail++
		} else {
			head++
		}
	}
	return strings.Join(lines[:head], "") +
		fmt.Sprintf(note, from+head+1, from+len(lines)-tail) +
		strings.Join(lines[len(lines)-tail:], "")
}
