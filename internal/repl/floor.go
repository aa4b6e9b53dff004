package repl

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// floor says who has the session: a turn, a command that must not run beside
// one, or nobody. What is said meanwhile waits in the queue.
type floor struct {
	turn  *turns
	queue *queue
	held  *job // the command; nil: none
}

// job is a command that was begun, until what it came to is done.
type job struct {
	name string
	stop context.CancelFunc
	slow bool // long enough to say so
}

func (f *floor) free() bool { return !f.turn.running && f.held == nil }

// say gives a prompt to the model: now, or when the session is free.
func (f *floor) say(text string) tea.Cmd {
	if f.free() {
		return f.turn.start(text)
	}
	f.queue.Add(text, false)
	return nil
}

// shell runs what was typed behind a !: now, or when the session is free.
func (f *floor) shell(text string, run func(context.Context, string) error) tea.Cmd {
	if f.free() {
		return f.turn.begin(text, run, strings.TrimSpace(text[1:]))
	}
	f.queue.Add(text, true)
	return nil
}

// end takes note that j is done.
func (f *floor) end(j *job) {
	if f.held == j {
		f.held = nil
	}
}

// stop ends what has the session, if anything.
func (f *floor) stop() bool {
	switch {
	case f.turn.running:
		f.turn.cancel()
	case f.held != nil:
		f.held.stop()
	default:
		return false
	}
	return true
}

// takeBack takes the newest queued text to the prompt again, if there is any.
func (m *model) takeBack() bool {
	text, acts := m.floor.queue.Last()
	m.giveBack(text, acts)
	return text != ""
}
