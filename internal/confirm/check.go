package confirm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// Check tries proposed changes while people are asked about it. It delays no question,
// except with First. A nil *Check tries nothing.
type Check struct {
	Title string // the command, for people
	First bool   // if it finds new problems, the changes are refused without a question

	run    func(context.Context) CheckResult
	once   sync.Once
	done   chan struct{}
	result CheckResult // valid once done is closed
}

// NewCheck returns a check that calls run once, when somebody is about to be asked.
func NewCheck(title string, first bool, run func(context.Context) CheckResult) *Check {
	return &Check{Title: title, First: first, run: run, done: make(chan struct{})}
}

// CheckResult is the result of trying changes. Its texts come from the command.
type CheckResult struct {
	Title    string
	Took     time.Duration
	Problems []Problem // those that the unchanged files do not have
	Gone     int       // problems of the unchanged files that the change removes
	Same     int       // problems that both have
	// Broken means that the command failed only with the change, but names no problem.
	Broken bool
	Output string // of the command with the change
	// Missing explains why there is no result; "" if there is one.
	Missing string
}

// Problem is a line of a check's output about a place in a file.
type Problem struct {
	Path         string // absolute
	Line, Column int    // 1-based; Column is 0 if unknown
	Warning      bool
	Text         string
}

// Done returns a channel that is closed when the check has ended; nil for a nil Check.
func (c *Check) Done() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.done
}

// Result returns the result of a check that has ended; ok is false before.
func (c *Check) Result() (r CheckResult, ok bool) {
	select {
	case <-c.Done():
		return c.result, true
	default:
		return CheckResult{}, false
	}
}

// start runs the check until stop is called, which does not wait for its end.
func (c *Check) start(ctx context.Context) (stop func()) {
	if c == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	c.once.Do(func() {
		go func() {
			defer crash.Guard()
			c.result = c.run(ctx)
			close(c.done)
		}()
	})
	return cancel
}

// refuse waits for a check that comes before the question and returns its refusal, if it
// finds new problems.
func (c *Check) refuse(ctx context.Context) (v Verdict, refused bool, err error) {
	if c == nil || !c.First {
		return Verdict{}, false, nil
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return Verdict{}, false, ctx.Err()
	}
	if !c.result.Red() {
		return Verdict{}, false, nil
	}
	return Verdict{Rule: true, Check: true, By: "check"}, true, nil
}

// Red reports whether the change makes something worse.
func (r CheckResult) Red() bool { return len(r.Problems) > 0 || r.Broken }

// With returns r with the result of another command that tried the same changes.
func (r CheckResult) With(more CheckResult) CheckResult {
	r.Problems = append(slices.Clip(r.Problems), more.Problems...)
	r.Gone, r.Same = r.Gone+more.Gone, r.Same+more.Same
	r.Broken = (r.Broken || more.Broken) && len(r.Problems) == 0
	r.Output, r.Missing = joinWords(r.Output, more.Output), strings.Trim(r.Missing+"; "+more.Missing, "; ")
	if r.Red() && r.Missing != "" {
		r.Output, r.Missing = joinWords(r.Output, r.Missing), ""
	}
	return r
}

// Line describes r on one line for people.
func (r CheckResult) Line() string {
	took := fmt.Sprintf("%.1f s", r.Took.Seconds())
	switch {
	case r.Missing != "":
		return r.Title + ": " + r.Missing
	case r.Broken:
		return r.Title + " ✗ fails with this change, not without it · " + took
	case len(r.Problems) > 0:
		return r.Title + " ✗ " + r.counts() + " · " + took
	case r.Gone > 0 || r.Same > 0:
		return r.Title + " ✔ nothing new (" + r.delta() + ") · " + took
	}
	return r.Title + " ✔ " + took
}

// counts describes the new problems: "2 errors, 1 warning (+3 −1)".
func (r CheckResult) counts() string {
	errs, warnings := 0, 0
	for _, p := range r.Problems {
		if p.Warning {
			warnings++
		} else {
			errs++
		}
	}
	var parts []string
	for _, of := range []struct {
		n    int
		noun string
	}{{errs, "new error"}, {warnings, "new warning"}} {
		switch {
		case of.n == 1:
			parts = append(parts, "1 "+of.noun)
		case of.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", of.n, of.noun))
		}
	}
	if r.Gone > 0 || r.Same > 0 {
		return strings.Join(parts, ", ") + " (" + r.delta() + ")"
	}
	return strings.Join(parts, ", ")
}

// delta compares with the unchanged files: "+2 −1, 3 as before".
func (r CheckResult) delta() string {
	out := fmt.Sprintf("+%d −%d", len(r.Problems), r.Gone)
	if r.Same > 0 {
		out += fmt.Sprintf(", %d as before", r.Same)
	}
	return out
}

// In returns the new problems of the file at an absolute path, by line.
func (r CheckResult) In(path string) []Problem {
	out := slices.DeleteFunc(slices.Clone(r.Problems), func(p Problem) bool { return p.Path != path })
	slices.SortStableFunc(out, func(a, b Problem) int { return a.Line - b.Line })
	return out
}
