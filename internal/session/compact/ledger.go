package compact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// shortened marks shortened text.
const shortened = "[shortened]"

// The sizes of shortened text, in bytes: an entry, and the file names in the line for
// the entries left out.
const (
	shortEntry = 160
	shortFiles = 600
)

// Ledger lists deeds in order, word for word. If that takes more than bound bytes,
// whole is false: the newest entries stay whole in half of the room. The others are
// shortened and marked; if that is not enough the oldest of them are left out, refusals
// last, and a line counts them.
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

// Lines returns the ledger's entry for each deed.
func Lines(deeds []history.Deed) []string {
	var lines []string
	for _, d := range deeds {
		lines = append(lines, strings.TrimPrefix(entry(d), "- "))
	}
	return lines
}

// ledger is a list of entries to fit into bound bytes.
type ledger struct {
	deeds       []history.Deed
	lines       []string
	keep        []bool // keep the entry whole
	size, bound int
}

// shorten shortens the entries that do not fit into half of the room, newest first.
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

// leaveOut removes the oldest of the shortened entries until all fit.
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

// leftOut returns the line for deeds that are left out.
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

// deedsOf returns the deeds of items, in order.
func deedsOf(items []history.Item) []history.Deed {
	var deeds []history.Deed
	for _, it := range items {
		if it.Deed != nil {
			deeds = append(deeds, *it.Deed)
		}
		deeds = append(deeds, it.DeedsAfter...)
	}
	return deeds
}

// entry returns d in the ledger, word for word. Text of several lines goes into a block
// that nothing in it can end, so it cannot pass for another entry.
func entry(d history.Deed) string {
	s := "- " + d.What
	if result := oneLine(d.Result, len(d.Result)); !multiline(d.What) {
		if result != "" {
			s += ": " + result
		}
	} else {
		verb, what, _ := strings.Cut(d.What, " ")
		s = "- " + oneLine(verb, shortEntry) + " what follows: " + result + "\n" + history.Fenced("", what)
	}
	switch {
	case d.Words == "":
	case multiline(d.What) || multiline(d.Words):
		s += "\n" + history.Fenced("", d.Words)
	default:
		s += ". " + d.Words
	}
	return s
}

// short returns d in one line.
func short(d history.Deed) string {
	s := "- " + oneLine(d.What, shortEntry/2)
	if d.Result != "" {
		s += ": " + oneLine(d.Result, shortEntry/4)
	}
	return s + " " + shortened
}

// multiline reports whether s has several lines to any reader.
func multiline(s string) bool { return strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029") }

// oneLine returns s on one line, in about n bytes.
func oneLine(s string, n int) string { return clip.Bytes(clip.Line(s), n, "…") }
