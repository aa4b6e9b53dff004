package compact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/session/history"
)

// shortened marks what is not whole.
const shortened = "[shortened]"

// Bounds of what is shortened, in bytes: an entry, and the names of the files in
// the line that stands for those left out.
const (
	shortEntry = 160
	shortFiles = 600
)

// Ledger lists what deeds did, in order, word for word. Where that takes more than
// bound bytes, whole is false: the newest stay whole, as many as take half of that.
// The others are shortened, and marked; if that is not enough the oldest of them are
// left out, refusals last, and a line says how many.
func Ledger(deeds []history.Deed, bound int) (text string, whole bool) {
	l := ledger{deeds: deeds, keep: make([]bool, len(deeds)), bound: bound, size: len(deeds)}
	for _, d := range deeds {
		l.lines = append(l.lines, entry(d))
		l.size += len(l.lines[len(l.lines)-1])
	}
	if whole = l.size <= bound; !whole {
		l.shorten()
		l.leaveOut()
	}
	return strings.Join(l.lines, "\n"), whole
}

// Lines are deeds as the ledger has them.
func Lines(deeds []history.Deed) []string {
	var lines []string
	for _, d := range deeds {
		lines = append(lines, strings.TrimPrefix(entry(d), "- "))
	}
	return lines
}

// ledger is entries that are to take bound bytes.
type ledger struct {
	deeds       []history.Deed
	lines       []string
	keep        []bool // whole
	size, bound int
}

// shorten shortens what does not fit into half of the room, from the newest on.
func (l *ledger) shorten() {
	left := l.bound / 2
	for i := len(l.lines) - 1; i >= 0; i-- {
		line := l.lines[i]
		if len(line)+1 <= left {
			l.keep[i], left = true, left-len(line)-1
			continue
		}
		if s := short(l.deeds[i]); len(s) < len(line) {
			l.lines[i] = s
			l.size -= len(line) - len(s)
		}
	}
}

// leaveOut takes out the oldest of the entries that are shortened until all fit.
func (l *ledger) leaveOut() {
	gone := make([]bool, len(l.deeds))
	for _, refused := range []bool{false, true} {
		for i, d := range l.deeds {
			if l.size > l.bound && d.Refused == refused && !l.keep[i] {
				gone[i] = true
				l.size -= len(l.lines[i]) + 1
			}
		}
	}
	var out []history.Deed
	lines := l.lines[:0]
	for i, line := range l.lines {
		if gone[i] {
			out = append(out, l.deeds[i])
		} else {
			lines = append(lines, line)
		}
	}
	l.lines = lines
	if len(out) > 0 {
		l.lines = slices.Insert(lines, 0, leftOut(out))
	}
}

// leftOut stands for deeds.
func leftOut(deeds []history.Deed) string {
	files, refused := map[string]bool{}, 0
	named, more := "", 0
	for _, d := range deeds {
		if d.Refused {
			refused++
		}
		for _, f := range d.Files {
			switch {
			case files[f.Path]:
			case len(named) < shortFiles:
				named += ", " + oneLine(f.Path, shortEntry)
			default:
				more++
			}
			files[f.Path] = true
		}
	}
	s := fmt.Sprintf("- (%d entries are left out here", len(deeds))
	if refused > 0 {
		s += fmt.Sprintf("; %d of them were refused", refused)
	}
	if named != "" {
		s += "; they changed " + named[2:]
	}
	if more > 0 {
		s += fmt.Sprintf(" and %d files more", more)
	}
	return s + ")"
}

// deedsOf returns what was done in items, in order.
func deedsOf(items []history.Item) []history.Deed {
	var deeds []history.Deed
	for _, it := range items {
		if it.Did != nil {
			deeds = append(deeds, *it.Did)
		}
		deeds = append(deeds, it.Then...)
	}
	return deeds
}

// entry is d in the ledger, word for word. What has several lines stands in a block
// that nothing in it can end: no text can pass for another entry.
func entry(d history.Deed) string {
	s := "- " + d.What
	if result := oneLine(d.Result, len(d.Result)); !several(d.What) {
		if result != "" {
			s += ": " + result
		}
	} else {
		verb, what, _ := strings.Cut(d.What, " ")
		s = "- " + oneLine(verb, shortEntry) + " what follows: " + result + "\n" + history.Fenced("", what)
	}
	switch {
	case d.Words == "":
	case several(d.What) || several(d.Words):
		s += "\n" + history.Fenced("", d.Words)
	default:
		s += ". " + d.Words
	}
	return s
}

// short is d in a line.
func short(d history.Deed) string {
	s := "- " + oneLine(d.What, shortEntry/2)
	if d.Result != "" {
		s += ": " + oneLine(d.Result, shortEntry/4)
	}
	return s + " " + shortened
}

// several says that s has several lines, for one reader or another.
func several(s string) bool { return strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029") }

// oneLine returns s on one line, in n bytes about.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
