// Package queue holds what was typed while the session was not free, in its order.
// It guarantees that a command is never given to the model as text, and that nothing
// after a command is said before the command has run.
package queue

import (
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/repl/command"
)

// Queue is prompts, and commands that have to wait. It may be used by any goroutine.
type Queue struct {
	mu    sync.Mutex // guards lines
	lines []string
}

// Add puts a line at the end.
func (q *Queue) Add(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines = append(q.lines, line)
}

// Take removes the prompts before the first command, for the running turn.
func (q *Queue) Take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < len(q.lines) && !isCommand(q.lines[n]) {
		n++
	}
	prompts := q.lines[:n:n]
	q.lines = q.lines[n:]
	return prompts
}

// Next removes what is to be submitted next: the prompts before the first
// command as one, or that command; empty if there is nothing.
func (q *Queue) Next() string {
	if prompts := q.Take(); len(prompts) > 0 {
		return strings.Join(prompts, "\n\n")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == 0 {
		return ""
	}
	line := q.lines[0]
	q.lines = q.lines[1:]
	return line
}

// Clear removes all.
func (q *Queue) Clear() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	lines := q.lines
	q.lines = nil
	return lines
}

// List returns what there is.
func (q *Queue) List() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]string(nil), q.lines...)
}

func isCommand(line string) bool {
	_, _, ok := command.Split(line)
	return ok
}
