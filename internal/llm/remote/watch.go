package remote

import (
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// watch calls a function if nothing has reset it for a while. It only counts time in
// which the process runs: after Ctrl+Z, or a stop from outside, the client reads what
// has arrived before it gives up.
type watch struct {
	end func()

	mu    sync.Mutex // guards the fields below
	timer *time.Timer
	left  time.Duration // until the end
	step  time.Duration // until the next call of look
	began time.Time     // start of the step
}

// steps is the number of steps in which a watch counts.
const steps = 20

// newWatch returns a watch that calls end after limit.
func newWatch(limit time.Duration, end func()) *watch {
	w := &watch{end: end}
	w.reset(limit)
	return w
}

// reset restarts the watch.
func (w *watch) reset(limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.step = limit, limit/steps
	w.next()
}

// next starts a step.
func (w *watch) next() {
	w.began = time.Now()
	if w.timer == nil {
		w.timer = time.AfterFunc(w.step, crash.Guarded(w.look))
	} else {
		w.timer.Reset(w.step)
	}
}

// stop stops the watch until it is reset.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = 0
	w.timer.Stop()
}

// look counts a step, unless it took too long: then the process was stopped, or has to
// catch up.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left <= 0 {
		return // stopped meanwhile
	}
	if time.Since(w.began) < 2*w.step+lateness {
		w.left -= w.step
	}
	if w.left <= 0 {
		w.end()
		return
	}
	w.next()
}

// lateness is how much a busy machine may add to a step.
const lateness = 100 * time.Millisecond
