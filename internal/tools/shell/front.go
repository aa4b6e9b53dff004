package shell

import (
	"errors"
	"sync"
	"time"
)

// Front is the command that Run runs for the person who waits.
type Front struct {
	Started time.Time
	Limit   time.Duration // zero: none
}

// front is a command that Run runs, and that a person may move to the background.
type front struct {
	line    string
	limit   time.Duration
	started time.Time
	moved   chan struct{} // closed when it is to move, once

	mu      sync.Mutex // guards kept while the command runs, and the following
	kept    *capture
	job     *job
	retired bool
}

func (f *front) write(p []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept.Write(p)
}

// bring offers f, which started at the given time, to Move.
func (j *Jobs) bring(f *front, started time.Time) {
	f.started = started
	j.mu.Lock()
	j.front = f
	j.mu.Unlock()
	j.changed()
}

// retire withdraws f from Move, and returns its job if it moves to the background. A command
// that ended while it was moved does not.
func (j *Jobs) retire(f *front, moves bool) *job {
	j.mu.Lock()
	if j.front == f {
		j.front = nil
	}
	j.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retired = true
	if f.job != nil && !moves {
		j.leave(f.job)
		f.job, f.kept.spill.keep = nil, false
	}
	return f.job
}

// Front returns the command that Move would move; ok is false if none runs.
func (j *Jobs) Front() (f Front, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.front == nil {
		return Front{}, false
	}
	return Front{j.front.started, j.front.limit}, true
}

// Move moves the command that Run runs, see Options.Moved, to the background: it goes on as a
// job, without a time limit, with its output so far in the log.
func (j *Jobs) Move() error {
	j.mu.Lock()
	f := j.front
	j.mu.Unlock()
	if f == nil {
		return errNoFront
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.retired:
		return errNoFront
	case f.job != nil:
		return nil
	}
	b, err := j.enter(f.line, f.kept, f.started)
	if err != nil {
		f.kept.spill.keep = false
		return err
	}
	f.job = b
	close(f.moved)
	return nil
}

var errNoFront = errors.New("no command is running that could move to the background")
