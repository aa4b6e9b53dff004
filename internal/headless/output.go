package headless

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// The limits of an output.
const (
	// maxUnwritten is how many bytes may wait for a slow reader before the turn has to
	// wait.
	maxUnwritten = 1 << 20
	// gather is how long bytes wait for more after a write: a model that sends a word
	// at a time must not cost a system call per word.
	gather = 8 * time.Millisecond
	// patience is how long an interrupted run waits for its reader.
	patience = 2 * time.Second
)

// errAbandoned is returned if the reader did not take the output in time.
var errAbandoned = errors.New("nobody reads the output")

// output writes to a stream from a goroutine of its own, in large pieces.
type output struct {
	w    io.Writer
	more chan struct{} // has a token if there is something to write
	now  chan struct{} // has a token if someone waits for the write

	mu        sync.Mutex // guards the fields below
	changed   *sync.Cond // signals less unwritten output, and changes of err and impatient
	buf       []byte
	writing   bool  // a piece taken from buf is being written
	ending    bool  // nothing follows the content of buf
	impatient bool  // never make the turn wait
	err       error // of the first write that failed
}

func newOutput(w io.Writer) *output {
	o := &output{w: w, more: make(chan struct{}, 1), now: make(chan struct{}, 1)}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// start starts the writing; it calls broken when a write fails. The returned function
// stops it: it waits until everything is written or, once ctx has ended, at most for
// patience, and returns the first error.
func (o *output) start(ctx context.Context, broken func()) (stop func() error) {
	done := make(chan struct{})
	go func() {
		defer crash.Guard()
		defer close(done)
		o.loop(broken)
	}()
	undo := context.AfterFunc(ctx, crash.Guarded(o.hurry))
	return func() error {
		defer undo()
		o.mu.Lock()
		o.ending = true
		o.mu.Unlock()
		poke(o.now)
		select {
		case <-done:
			return o.failure()
		case <-ctx.Done():
		}
		late := time.NewTimer(patience)
		defer late.Stop()
		select {
		case <-done:
			return o.failure()
		case <-late.C:
			return errAbandoned // the writer hangs in a write that nothing can end
		}
	}
}

// write queues s. It waits if too much is unwritten.
func (o *output) write(s string) {
	o.mu.Lock()
	for len(o.buf) > maxUnwritten && o.err == nil && !o.impatient {
		o.changed.Wait()
	}
	if o.err == nil {
		o.buf = append(o.buf, s...)
	}
	o.mu.Unlock()
	poke(o.more)
}

// drain waits until everything is written.
func (o *output) drain() {
	poke(o.now)
	o.mu.Lock()
	defer o.mu.Unlock()
	for (len(o.buf) > 0 || o.writing) && o.err == nil && !o.impatient {
		o.changed.Wait()
	}
}

// loop writes until the output ends or fails.
func (o *output) loop(broken func()) {
	var piece []byte
	for {
		var ending bool
		piece, ending = o.next(piece)
		if len(piece) == 0 {
			if ending {
				return
			}
			select {
			case <-o.more:
			case <-o.now:
			}
			continue
		}
		if _, err := o.w.Write(piece); err != nil {
			o.fail(err)
			broken()
			return
		}
		o.rest()
	}
}

// next returns the queued output; it reuses spent for the following output.
func (o *output) next(spent []byte) (piece []byte, ending bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	piece, o.buf = o.buf, spent[:0]
	o.writing = len(piece) > 0
	o.changed.Broadcast()
	return piece, o.ending
}

// rest waits for more output, unless someone waits for the write.
func (o *output) rest() {
	o.mu.Lock()
	o.writing = false
	o.changed.Broadcast()
	o.mu.Unlock()
	pause := time.NewTimer(gather)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-o.now:
	}
}

func (o *output) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err, o.buf = err, nil
	o.changed.Broadcast()
}

func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *output) hurry() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.impatient = true
	o.changed.Broadcast()
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
