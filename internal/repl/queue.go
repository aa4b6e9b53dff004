package repl

import (
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/repl/command"
)

// queue holds what was typed while the session was not free: prompts, and
// commands that have to wait.
type queue struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (q *queue) add(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines = append(q.lines, line)
}

// take removes the prompts before the first command, for the running turn.
func (q *queue) take() []string {
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

// next removes what is to be submitted next: the prompts before the first
// command as one, or that command; empty if there is nothing.
func (q *queue) next() string {
	if prompts := q.take(); len(prompts) > 0 {
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

// clear removes all.
func (q *queue) clear() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	lines := q.lines
	q.lines = nil
	return lines
}

func (q *queue) list() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]string(nil), q.lines...)
}

func isCommand(line string) bool {
	_, _, ok := command.Split(line)
	return ok
}
