package edit

import (
	"fmt"
	"strings"
)

// nearContext is the number of lines shown around a place if there is room.
const nearContext = 3

// nearest returns the places of the file most similar to the lines sent, formatted in at
// most room bytes. The first place has precedence.
func (s *similarity) nearest(room int) []string {
	var shown []string
	for _, p := range s.places() {
		text := s.format(p, room, len(shown) == 0)
		if text == "" {
			break
		}
		shown = append(shown, text)
		room -= len(text)
	}
	return shown
}

// row is a line of a diff between the lines sent and those of the file.
type row struct {
	sign   string // " ", "-" for a line only sent, "+" for one only in the file
	number int    // in the file, 1-based, or zero
	text   string
}

// format formats a place in the first form that fits: a diff, the file's side of it, the
// file's exact text, or that text without its middle if cut is set.
func (s *similarity) format(p place, room int, cut bool) string {
	rows := s.rows(p)
	var file []row
	for _, r := range rows {
		if r.number > 0 {
			file = append(file, r)
		}
	}
	if text := marked("- as sent, + as in the file; → is a tab, · a blank", rows); len(text) <= room {
		return s.widen(p, rows, text, room)
	}
	if text := marked("+ differs from what was sent; → is a tab, · a blank", file); len(text) <= room {
		return text
	}
	lines := make([]string, 0, p.to-p.from)
	for _, l := range s.have[p.from:p.to] {
		lines = append(lines, l.text[:min(len(l.text), nearWidth)]+"\n")
	}
	head := fmt.Sprintf("Nearest lines of the file, %d to %d, exactly:\n", p.from+1, p.to)
	if size(lines)+len(head) <= room {
		return head + strings.Join(lines, "")
	}
	if !cut {
		return ""
	}
	return head + withoutMiddle(lines, p.from, room-len(head))
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
	if r.number == 0 {
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
			added = append(added, row{"+", next + 1, s.have[next].text})
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
			rows = append(rows, row{" ", i + 1, s.have[i].text})
			next = i + 1
			continue
		}
		rows = append(rows, row{"-", 0, s.want[j]})
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
			head = append([]row{{" ", i + 1, s.have[i].text}}, head...)
			left -= len(head[0].String())
			if left < 0 {
				head = head[1:]
				break
			}
		}
		if i := p.to + len(tail); i < len(s.have) {
			tail = append(tail, row{" ", i + 1, s.have[i].text})
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
