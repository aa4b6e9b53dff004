package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// event is one line of go test -json (see go doc test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64
}

// report follows the events of one run.
type report struct {
	out     io.Writer
	started time.Time
	output  map[string]*strings.Builder // of unfinished tests and packages
	open    map[string]bool             // packages that have not ended
	counts  struct{ passed, failed, packages, broken int }
	skipped []string
}

func newReport(out io.Writer) *report {
	return &report{out: out, started: time.Now(), output: map[string]*strings.Builder{}, open: map[string]bool{}}
}

// read takes events until r ends.
func (r *report) read(in io.Reader) error {
	dec := json.NewDecoder(in)
	for {
		var e event
		err := dec.Decode(&e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the output of go test: %w", err)
		}
		r.take(e)
	}
}

func (r *report) take(e event) {
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
func (r *report) keep(key string, e event) {
	if strings.HasPrefix(strings.TrimLeft(afterLocation(e.Output), " \t"), "load:") {
		r.print("    " + e.Test + " " + strings.TrimSpace(afterLocation(e.Output)) + "\n")
	}
	b := r.output[key]
	if b == nil {
		b = &strings.Builder{}
		r.output[key] = b
	}
	b.WriteString(e.Output)
}

// afterLocation cuts the "file_test.go:12: " that t.Log puts before its text.
func afterLocation(line string) string {
	if head, rest, ok := strings.Cut(line, ": "); ok && strings.Contains(head, "_test.go:") {
		return rest
	}
	return line
}

func (r *report) testEnded(e event, key string) {
	switch e.Action {
	case "pass":
		r.counts.passed++
	case "skip":
		r.skipped = append(r.skipped, e.Package+"."+e.Test)
	case "fail":
		r.counts.failed++
		if b := r.output[key]; b != nil {
			r.print(b.String())
		}
	}
}

func (r *report) packageEnded(e event, key string) {
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
	r.counts.broken++
	r.print(text)
	r.unfinished(e.Package)
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
	r.print(fmt.Sprintf("%d packages, %d tests passed, %d failed, %d skipped, %s\n",
		r.counts.packages, r.counts.passed, r.counts.failed, len(r.skipped), time.Since(r.started).Round(time.Second)))
	switch {
	case r.counts.failed > 0 || r.counts.broken > 0:
		return fmt.Errorf("%d packages failed", r.counts.broken)
	case r.counts.packages == 0:
		return errors.New("no package was tested")
	case len(r.open) > 0:
		return fmt.Errorf("%d packages did not end", len(r.open))
	case strict && len(r.skipped) > 0:
		return fmt.Errorf("%d tests were skipped", len(r.skipped))
	}
	return nil
}

func (r *report) print(s string) { _, _ = io.WriteString(r.out, s) }
