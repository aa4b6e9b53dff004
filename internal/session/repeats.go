package session

import (
	"fmt"
	"slices"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

const (
	maxRepeats  = 3  // how often in a row the same call may have the same result
	maxFailures = 5  // how often a tool may fail in the same way with any arguments
	loopWindow  = 10 // calls in which a row of several calls counts as repeated
)

// outcome is a call and its result.
type outcome struct{ name, args, result string }

// repeats finds calls that repeat with the same results.
type repeats struct {
	recent   []outcome // since the last change, at most loopWindow
	failures int       // in a row, the same of one tool
	told     []outcome // of the repeated rows that the model was told about
}

// loopAside tells the model that it repeats several calls.
const loopAside = "\n[You repeat the same %d calls, and their results are the same as before. Nothing has changed in between: " +
	"do something else, or tell the user what is missing.]"

// see records the outcome of c. The error ends the turn if c was repeated too often: as
// nothing changed in between, the next call would have the same result. The first time
// that a row of several calls is repeated, aside is a text for the model.
func (r *repeats) see(c llm.ToolCall, res tools.Result) (aside string, err error) {
	if len(res.Changes) > 0 {
		*r = repeats{}
	}
	r.fail(c, res)
	r.recent = append(r.recent, outcome{c.Name, c.Args, res.ForModel})
	r.recent = r.recent[max(len(r.recent)-loopWindow, 0):]
	n := r.period()
	switch {
	case r.same() >= maxRepeats:
		err = r.end(fmt.Sprintf("called %s %d times in a row with the same result", c.Name, maxRepeats))
	case r.failures >= maxFailures:
		err = r.end(fmt.Sprintf("made %d calls of %s in a row that failed in the same way", maxFailures, c.Name))
	case n > 0 && r.toldOf(r.recent[len(r.recent)-n:]):
		err = r.end(fmt.Sprintf("repeated the same %d calls with the same results, after it was told", n))
	case n > 0:
		r.recent = r.recent[len(r.recent)-n:] // another repetition ends the turn
		r.told = append(r.told, r.recent...)
		aside = fmt.Sprintf(loopAside, n)
	}
	return aside, err
}

// toldOf reports whether the model was told about all outcomes of a row, which may begin
// with any of its calls.
func (r *repeats) toldOf(row []outcome) bool {
	return !slices.ContainsFunc(row, func(o outcome) bool { return !slices.Contains(r.told, o) })
}

// fail counts c if it failed like the call before it.
func (r *repeats) fail(c llm.ToolCall, res tools.Result) {
	n := len(r.recent)
	switch {
	case !res.Failed || res.Denied != nil:
		r.failures = 0
	case n > 0 && r.recent[n-1].name == c.Name && r.recent[n-1].result == res.ForModel:
		r.failures++
	default:
		r.failures = 1
	}
}

// same returns how often the last outcome repeats in a row.
func (r *repeats) same() int {
	n := 0
	for _, o := range slices.Backward(r.recent) {
		if o != r.recent[len(r.recent)-1] {
			break
		}
		n++
	}
	return n
}

// period returns the length of the row of different outcomes that the newest ones repeat;
// zero if they repeat none.
func (r *repeats) period() int {
	for n := 2; 2*n <= len(r.recent); n++ {
		last := r.recent[len(r.recent)-n:]
		before := r.recent[len(r.recent)-2*n : len(r.recent)-n]
		if last[0] != last[n-1] && slices.Equal(last, before) {
			return n
		}
	}
	return 0
}

// end forgets the calls and returns the error that ends the turn.
func (r *repeats) end(what string) error {
	*r = repeats{}
	return &LimitError{Reason: "Stopped because the model " + what + ". What should it do instead?"}
}
