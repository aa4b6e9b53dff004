package compact

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/session/history"
)

// maxDeed bounds a line of the ledger, in bytes.
const maxDeed = 400

// Ledger lists what items have changed, run and been refused, a line each, in
// order. Where that takes more than bound bytes the oldest lines are put
// together: of files and refusals none is left out, of commands the count
// stays.
func Ledger(items []history.Item, bound int) string {
	var deeds []history.Deed
	for _, it := range items {
		if it.Did != nil {
			deeds = append(deeds, *it.Did)
		}
	}
	lines, size := make([]string, len(deeds)), 0
	for i, d := range deeds {
		lines[i] = "- " + oneLine(d.What+": "+d.Result, maxDeed)
		size += len(lines[i]) + 1
	}
	if size <= bound {
		return strings.Join(lines, "\n")
	}
	// The newer half stays as it is, if it fits.
	first, left := len(lines), bound/2
	for first > 0 && len(lines[first-1])+1 <= left {
		first--
		left -= len(lines[first]) + 1
	}
	return strings.Join(append(fold(deeds[:first], bound/2), lines[first:]...), "\n")
}

// fold puts deeds together, in bound bytes about: one line a file, one a
// refusal, one a command, of these as many as fit.
func fold(deeds []history.Deed, bound int) []string {
	var files, refused, runs tally
	for _, d := range deeds {
		switch {
		case d.Refused:
			refused.add(d.What, d.Result, 0, 0)
		case len(d.Files) == 0:
			runs.add(d.What, d.Result, 0, 0)
		}
		for _, f := range d.Files {
			files.add("Changed "+f.Path, "", f.Added, f.Removed)
		}
	}
	lines := []string{fmt.Sprintf("- (the %d oldest entries, put together)", len(deeds))}
	lines = append(lines, files.lines()...)
	lines = append(lines, refused.lines()...)
	for _, l := range lines {
		bound -= len(l) + 1
	}
	commands := runs.lines()
	kept := len(commands)
	for kept > 0 && bound > 0 {
		kept--
		bound -= len(commands[kept]) + 1
	}
	if kept > 0 {
		lines = append(lines, fmt.Sprintf("- %d commands more", kept))
	}
	return append(lines, commands[kept:]...)
}

// tally counts deeds that are alike.
type tally struct {
	order []string
	of    map[string]*alike
}

type alike struct {
	times, added, removed int
	result                string // of the last
}

func (t *tally) add(what, result string, added, removed int) {
	if t.of == nil {
		t.of = map[string]*alike{}
	}
	a := t.of[what]
	if a == nil {
		a = &alike{}
		t.of[what] = a
		t.order = append(t.order, what)
	}
	a.times++
	a.added += added
	a.removed += removed
	a.result = result
}

func (t *tally) lines() []string {
	var out []string
	for _, what := range t.order {
		a := t.of[what]
		l := "- " + oneLine(what, maxDeed)
		if a.added+a.removed > 0 {
			l += fmt.Sprintf(": +%d −%d", a.added, a.removed)
		}
		if a.times > 1 {
			l += fmt.Sprintf(", %d times", a.times)
		}
		if a.result != "" {
			l += ", last: " + oneLine(a.result, maxDeed)
		}
		out = append(out, l)
	}
	return out
}

// oneLine returns s on one line, in n bytes about.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
