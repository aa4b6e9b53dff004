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
	// maxUnwritten is how many bytes wait for a slow reader before the turn does.
	maxUnwritten = 1 << 20
	// gather is how long bytes wait for others after a write: a model that sends
	// a word at a time must not cost a system call each.
	gather = 8 * time.Millisecond
	// patience is how long an interrupted run waits for its reader.
	patience = 2 * time.Second
)

// errAbandoned is the error of an output whose reader did not take it in time.
var errAbandoned = errors.New("nobody reads the output")

// output writes to a stream from a goroutine of its own, in large pieces.
type output struct {
	w    io.Writer
	more chan struct{} // one token: there is something to write
	now  chan struct{} // one token: someone waits until it is written

	mu      sync.Mutex // guards what follows
	changed *sync.Cond // unwritten became less, or err or hasty was set
	buf     []byte
	writing bool  // a piece taken from buf is being written
	ending  bool  // nothing comes after what is in buf
	hasty   bool  // don't make the turn wait
	err     error // of the first write that failed
}

func newOutput(w io.Writer) *output {
	o := &output{w: w, more: make(chan struct{}, 1), now: make(chan struct{}, 1)}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// start starts the writing; broken is called when it fails. The function that it
// returns ends it: it waits until everything is written, or, once ctx has ended,
// for as long as patience lasts, and returns what went wrong.
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
			return errAbandoned // the writer hangs in a write that nothing ends
		}
	}
}

// write takes s. It waits if too much is unwritten.
func (o *output) write(s string) {
	o.mu.Lock()
	for len(o.buf) > maxUnwritten && o.err == nil && !o.hasty {
		o.changed.Wait()
	}
	if o.err == nil {
		o.buf = append(o.buf, s...)
	}
	o.mu.Unlock()
	poke(o.more)
}

// drain waits until all is written.
func (o *output) drain() {
	poke(o.now)
	o.mu.Lock()
	defer o.mu.Unlock()
	for (len(o.buf) > 0 || o.writing) && o.err == nil && !o.hasty {
		o.changed.Wait()
	}
}

// loop writes until the output ends or breaks.
func (o *output) loop(broken func()) {
	var piece []byte
	for {
		var ending bool
		piece, ending = o.take(piece)
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

// take returns what there is to write; spent is used for what comes next.
func (o *output) take(spent []byte) (piece []byte, ending bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	piece, o.buf = o.buf, spent[:0]
	o.writing = len(piece) > 0
	o.changed.Broadcast()
	return piece, o.ending
}

// rest lets more come together, unless someone waits for it.
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
	o.hasty = true
	o.changed.Broadcast()
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
