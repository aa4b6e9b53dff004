//go:build linux

package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
)

// row is one figure: its value, the floor's if that makes sense, and the bound.
type row struct {
	name        string
	unit        string
	ours, floor float64 // floor is zero if it has none
	most        float64 // in unit, or as a multiple of the floor
	timesFloor  bool
	reached     bool
}

func (r *row) judge() {
	limit := r.most
	if r.timesFloor {
		limit *= r.floor
	}
	r.reached = r.ours <= limit
}

const startUp = "This is the start-up, most of it before the program's main function: glamour and chroma load their styles and languages."

// Causes that several figures share.
const (
	glamour   = "Glamour adds 5 MiB: it can format by text/template, so that the linker keeps all methods of all types, and it loads the styles of chroma. "
	editRound = "An edit waits for the disk twice, which the floor does not: for the new file and the undo journal at once, then for the folder. " +
		"The rest is the audit log, which is a chain, and the comparison of the texts."
	shellRound = "A third of a round is bash, which takes twice as long as sh, and the search for leftover processes. " +
		"The first command also starts the watchdog, another process of this program."
	walks = "Nearly all of it are the stat calls of two walks, one for each file, on all processors."
)

// reasons explains figures that have missed their bounds, by the beginning of their names.
var reasons = map[string]string{
	"grep-10": "ripgrep only names the files; the program reads their lines itself, for the same results " +
		"with and without ripgrep, and the figure includes the start-up.",
	"noop":                          startUp,
	"… start to its request":        startUp,
	"one more turn (-c -p)":         startUp,
	"`--version`":                   startUp,
	"prompt shown":                  startUp,
	"first typed key echoed":        startUp,
	"edit-50":                       editRound,
	"own cost of an edit round":     editRound,
	"CPU of edit-50":                "A third of it is the start-up. " + editRound,
	"round 10":                      editRound,
	"round 490":                     "Most of it is the request of a megabyte on its way to the server, which the floor sends too. " + editRound,
	"shell-20":                      shellRound,
	"own cost of a shell round":     shellRound,
	"stream-100k":                   "Most of the difference to the floor is the start-up; the server and the program share the processors for the rest.",
	"100,000 characters at once, p": "The model's server, the terminal and the program share the processors with everything else on the machine.",
	"2000 files":                    walks,
	"50000 files":                   walks,
	"a copy of":                     "Nearly all of it is the kernel's: another process of this program, namespaces, and about fifty mounts for each command.",
	"the first check":               "It copies each file, so that the command can build without touching the folder.",
	"a later check":                 "It is the start of a shell in the sandbox, and a look at each file and its copy.",
	"size on disk":                  glamour + "The rest is the languages of chroma, the extension for VS Code, and the protocols of MCP, ACP and three kinds of models.",
	"idle memory":                   "Three quarters are the program's file, of which Linux maps all that is near to what has run. " + glamour,
}

// unexplained replaces a missing reason.
const unexplained = "The cause has not been looked for yet."

// reason returns the explanation of a row, by the longest beginning of its name.
func reason(name string) string {
	best, why := "", unexplained
	for about, text := range reasons {
		if strings.HasPrefix(name, about) && len(about) > len(best) {
			best, why = about, text
		}
	}
	return why
}

// report collects the figures of a run.
type report struct{ sections []section }

type section struct {
	title, note string
	base        string // the reference of the figures
	rows        []row
}

func (rep *report) section(title, note string) {
	rep.beside("floor", title, note)
}

// beside begins a section that compares figures with those of base.
func (rep *report) beside(base, title, note string) {
	rep.sections = append(rep.sections, section{title: title, note: note, base: base})
}

func (rep *report) add(r row) {
	r.judge()
	s := &rep.sections[len(rep.sections)-1]
	s.rows = append(s.rows, r)
}

// times adds a figure whose bound is a multiple of the floor's.
func (rep *report) times(name, unit string, ours, floor, most float64) {
	rep.add(row{name: name, unit: unit, ours: ours, floor: floor, most: most, timesFloor: true})
}

// under adds a figure with a bound of its own.
func (rep *report) under(name, unit string, ours, floor, most float64) {
	rep.add(row{name: name, unit: unit, ours: ours, floor: floor, most: most})
}

// missed returns the rows that exceed their bounds.
func (rep *report) missed() []row {
	var out []row
	for _, s := range rep.sections {
		for _, r := range s.rows {
			if !r.reached {
				out = append(out, r)
			}
		}
	}
	return out
}

func (rep *report) write(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Performance\n\n" +
		"Written by `make bench`; do not edit. Whole processes against a scripted model server on loopback that answers at\n" +
		"once, so the figures are the program's own. The floor is a minimal Go client (`tools/bench/floor`) that does only the same\n" +
		"requests and tool work; both start in a control group of their own, which costs some milliseconds and counts every process\n" +
		"they start. All figures of a table come from one run on one machine\n")
	fmt.Fprintf(&b, "(%s/%s, %d CPUs, %s); the ratios matter, not the absolute figures.\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	for _, s := range rep.sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| | %[3]s | agent | × %[3]s | at most | |\n|---|---:|---:|---:|---:|---|\n", s.title, s.note, s.base)
		for _, r := range s.rows {
			b.WriteString(r.line(s.base))
		}
	}
	for _, r := range rep.missed() {
		fmt.Fprintf(&b, "\nMissed: %s. %s\n", r.name, reason(r.name))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r row) line(base string) string {
	floor, ratio, mark := "–", "–", "reached"
	if r.floor > 0 {
		floor, ratio = number(r.floor), fmt.Sprintf("%.1f", r.ours/r.floor)
	}
	most := number(r.most)
	if r.timesFloor {
		most += " × " + base
	}
	if !r.reached {
		mark = "**missed**"
	}
	return fmt.Sprintf("| %s, %s | %s | %s | %s | %s | %s |\n", r.name, r.unit, floor, number(r.ours), ratio, most, mark)
}

func number(v float64) string {
	switch {
	case v == float64(int(v)):
		return fmt.Sprint(int(v))
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}
