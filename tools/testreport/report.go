package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/tools/gotest"
)

// report follows the events of one run.
type report struct {
	out     io.Writer
	started time.Time
	output  map[string]*strings.Builder // of unfinished tests and packages
	open    map[string]bool             // packages that have not ended
	counts  struct{ passed, failed, packages, broken int }
	skipped []string
	except  exceptions
	excused map[string]int // failures that may be, by package
	wrong   map[string]int // other failures, by package
}

func newReport(out io.Writer) *report {
	return &report{out: out, started: time.Now(), output: map[string]*strings.Builder{}, open: map[string]bool{}, excused: map[string]int{}, wrong: map[string]int{}}
}

// read takes events until in ends.
func (r *report) read(in io.Reader) error { return gotest.Read(in, r.take) }

func (r *report) take(e gotest.Event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "start":
		r.open[e.Package] = true
	case "output":
		r.keep(key, e)
	case "build-output":
		r.print(e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" {
			r.packageEnded(e, key)
		} else {
			r.testEnded(e, key)
		}
		delete(r.output, key)
	}
}

// keep holds output back until its test ends: only failures are shown.
func (r *report) keep(key string, e gotest.Event) {
	if strings.HasPrefix(strings.TrimLeft(gotest.AfterLocation(e.Output, "_test.go"), " \t"), "load:") {
		r.print("    " + e.Test + " " + strings.TrimSpace(gotest.AfterLocation(e.Output, "_test.go")) + "\n")
	}
	b := r.output[key]
	if b == nil {
		b = &strings.Builder{}
		r.output[key] = b
	}
	b.WriteString(e.Output)
}

func (r *report) testEnded(e gotest.Event, key string) {
	switch e.Action {
	case "pass":
		r.counts.passed++
	case "skip":
		r.skipped = append(r.skipped, e.Package+"."+e.Test)
	case "fail":
		if r.except.excuses(e.Package, e.Test) {
			r.excused[e.Package]++
			return
		}
		r.wrong[e.Package]++
		r.counts.failed++
		if b := r.output[key]; b != nil {
			r.print(b.String())
		}
	}
}

func (r *report) packageEnded(e gotest.Event, key string) {
	delete(r.open, e.Package)
	r.counts.packages++
	text := ""
	if b := r.output[key]; b != nil {
		text = b.String()
	}
	if e.Action != "fail" {
		r.print(lastLine(text))
		return
	}
	if r.excused[e.Package] > 0 && r.wrong[e.Package] == 0 && !r.isCutOff(e.Package) {
		r.print(fmt.Sprintf("ok  \t%s but for %d exceptions\n", e.Package, r.excused[e.Package]))
		return
	}
	r.counts.broken++
	r.print(text)
	r.unfinished(e.Package)
}

// isCutOff reports whether tests of a package did not end.
func (r *report) isCutOff(pkg string) bool {
	for key := range r.output {
		if strings.HasPrefix(key, pkg+" ") && key != pkg+" " {
			return true
		}
	}
	return false
}

// unfinished prints the output of the tests that a crash cut off.
func (r *report) unfinished(pkg string) {
	for key, b := range r.output {
		if strings.HasPrefix(key, pkg+" ") && key != pkg+" " {
			r.print(b.String())
			delete(r.output, key)
		}
	}
}

// lastLine is the "ok  pkg  0.1s" line of a package that passed.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	last := lines[len(lines)-1]
	if last == "" {
		return ""
	}
	return last + "\n"
}

// close prints the summary. The error is the reason why the run does not count as
// passed; with strict, skipped tests are one.
func (r *report) close(strict bool) error {
	for _, name := range r.skipped {
		r.print("skipped: " + name + "\n")
	}
	r.print(r.except.list())
	r.print(fmt.Sprintf("%d packages, %d tests passed, %d failed, %d excepted, %d skipped, %s\n",
		r.counts.packages, r.counts.passed, r.counts.failed, len(r.except.failed), len(r.skipped), time.Since(r.started).Round(time.Second)))
	switch {
	case r.counts.failed > 0 || r.counts.broken > 0:
		return fmt.Errorf("%d packages failed", r.counts.broken)
	case r.counts.packages == 0:
		return errors.New("no package was tested")
	case len(r.open) > 0:
		return fmt.Errorf("%d packages did not end", len(r.open))
	case len(r.except.stale()) > 0:
		return fmt.Errorf("these exceptions did not fail: %s", strings.Join(r.except.stale(), ", "))
	case strict && len(r.skipped) > 0:
		return fmt.Errorf("%d tests were skipped", len(r.skipped))
	}
	return nil
}

func (r *report) print(s string) { _, _ = io.WriteString(r.out, s) }
