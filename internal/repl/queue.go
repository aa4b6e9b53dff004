package repl

import (
	"slices"
	"strings"
	"sync"
)

// queue holds waiting lines. It is safe for concurrent use.
type queue struct {
	mu    sync.Mutex // guards lines
	lines []line
}

// line is a prompt or, if acts is set, a command typed by the user. A prompt never acts, even
// if it looks like a command: it may be the text of one.
type line struct {
	text string
	acts bool
}

// add appends a line; acts marks a command.
func (q *queue) add(text string, acts bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines = append(q.lines, line{text, acts})
}

// take removes and returns the prompts before the first command, for the running turn.
func (q *queue) take() []string {
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

// next removes and returns what to submit next: the prompts before the first command as one
// text, or that command; empty if the queue is.
func (q *queue) next() (text string, acts bool) {
	if prompts := q.take(); len(prompts) > 0 {
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

// last removes and returns the newest line, or "".
func (q *queue) last() (text string, acts bool) {
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

// clear empties the queue and returns the prompts, then the commands. Joined at the prompt
// they form a prompt, which runs nothing, unless acts reports that all of them are commands.
func (q *queue) clear() (all []string, acts bool) {
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

// list returns the waiting lines.
func (q *queue) list() []string {
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
