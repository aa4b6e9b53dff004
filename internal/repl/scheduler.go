package repl

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// scheduler decides when prompts run: one at a time, and not beside a command that needs the
// session. Others wait in the queue.
type scheduler struct {
	turn    *turns
	queue   *queue
	command *job // the command that has the session, or nil
}

// job is a command in progress.
type job struct {
	name string
	stop context.CancelFunc
	slow bool // long enough to mention it
}

func (s *scheduler) free() bool { return !s.turn.running && s.command == nil }

// say gives a prompt to the model, now or when the session is free.
func (s *scheduler) say(text string) tea.Cmd {
	if s.free() {
		return s.turn.start(text)
	}
	s.queue.Add(text, false)
	return nil
}

// shell runs a command line typed after !, now or when the session is free.
func (s *scheduler) shell(text string, run func(context.Context, string) error) tea.Cmd {
	if s.free() {
		return s.turn.begin(text, run, strings.TrimSpace(text[1:]))
	}
	s.queue.Add(text, true)
	return nil
}

// end records that j is done.
func (s *scheduler) end(j *job) {
	if s.command == j {
		s.command = nil
	}
}

// stop stops the running turn or command, and reports whether there was one.
func (s *scheduler) stop() bool {
	switch {
	case s.turn.running:
		s.turn.cancel()
	case s.command != nil:
		s.command.stop()
	default:
		return false
	}
	return true
}

// takeBack returns the newest queued text to the prompt, and reports whether there was any.
func (m *model) takeBack() bool {
	text, acts := m.sched.queue.Last()
	m.giveBack(text, acts)
	return text != ""
}
