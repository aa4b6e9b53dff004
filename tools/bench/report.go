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

// reasons explains figures that have missed their bounds.
var reasons = map[string]string{
	"grep-10": "ripgrep only names the files; the program reads their lines itself, for the same results " +
		"with and without ripgrep, and the figure includes the start-up.",
	"shell-20":                        "A third of a round is bash, which takes twice as long as sh, and the search for leftover processes.",
	"noop":                            startUp,
	"50000 files":                     "Nearly all of it are the stat calls of two walks, one for each file, on all processors.",
	"… start to its request":          startUp,
	"100,000 characters at once, p99": "The model's server, the terminal and the program share the processors with everything else on the machine.",
}

// reason returns the explanation of a row, whose name may end in a number.
func reason(name string) string {
	for about, why := range reasons {
		if strings.HasPrefix(name, about) {
			return why
		}
	}
	return ""
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
