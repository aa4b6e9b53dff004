package repl

import (
	"slices"
	"strings"
	"sync"
)

// queue is what waits. Its methods may be called from any goroutine.
type queue struct {
	mu    sync.Mutex // guards lines
	lines []line
}

// line is a prompt or, if it acts, a command that the user typed and that has to
// wait. A prompt never acts, whatever it looks like: it may be a command's.
type line struct {
	text string
	acts bool
}

// Add puts a line at the end. acts says that it is a command, not a prompt.
func (q *queue) Add(text string, acts bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines = append(q.lines, line{text, acts})
}

// Take removes the prompts before the first command, for the running turn.
func (q *queue) Take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < len(q.lines) && !q.lines[n].acts {
		n++
	}
	prompts := texts(q.lines[:n])
	q.lines = q.lines[n:]
	return prompts
}

// Next removes what is to be submitted next: the prompts before the first
// command as one, or that command; empty if there is nothing.
func (q *queue) Next() (text string, acts bool) {
	if prompts := q.Take(); len(prompts) > 0 {
		return strings.Join(prompts, "\n\n"), false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == 0 {
		return "", false
	}
	first := q.lines[0]
	q.lines = q.lines[1:]
	return first.text, first.acts
}

// Last removes the newest line; empty if there is none. acts is as in Add.
func (q *queue) Last() (text string, acts bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.lines) - 1
	if n < 0 {
		return "", false
	}
	last := q.lines[n]
	q.lines = q.lines[:n]
	return last.text, last.acts
}

// Clear removes all and returns the prompts, then the commands: what is given back to
// a person as one text is then a prompt, and runs nothing, if there was one. acts is
// true if there was none.
func (q *queue) Clear() (all []string, acts bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	slices.SortStableFunc(q.lines, func(a, b line) int {
		switch {
		case a.acts == b.acts:
			return 0
		case b.acts:
			return -1
		}
		return 1
	})
	all, acts = texts(q.lines), len(q.lines) > 0 && q.lines[0].acts
	q.lines = nil
	return all, acts
}

// List returns what waits.
func (q *queue) List() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return texts(q.lines)
}

func texts(lines []line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.text)
	}
	return out
}
