package shell

import (
	"errors"
	"os"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// How long reading the output may go on when the shell has exited.
const (
	exitTime  = 900 * time.Millisecond // where the pipe stays open, with the ending of processes
	drainTime = 50 * time.Millisecond  // when nobody is left who should write any
	lastReads = 40 * time.Millisecond  // for what is in the pipe when the waiting is over
)

// Output is read in pieces of firstRead bytes and, once one is full, of
// laterReads, which is what a pipe holds.
const (
	firstRead  = 4 << 10
	laterReads = 64 << 10
)

// output is our end of the pipe that a command writes to.
type output struct {
	pipe  *os.File
	ended chan struct{} // closed when pump has returned
}

func newOutput(pipe *os.File) *output {
	return &output{pipe: pipe, ended: make(chan struct{})}
}

// pump moves output to sink until nobody holds the other end of the pipe or its
// deadline has passed.
func (o *output) pump(sink func([]byte)) {
	defer crash.Guard()
	defer close(o.ended)
	buf := make([]byte, firstRead)
	for last := false; ; {
		n, err := o.pipe.Read(buf)
		if n > 0 {
			sink(buf[:n])
		}
		switch {
		case err == nil && n == len(buf) && n < laterReads:
			buf = make([]byte, laterReads)
		case err == nil:
		case last || !errors.Is(err, os.ErrDeadlineExceeded) || o.pipe.SetReadDeadline(time.Now().Add(lastReads)) != nil:
			return
		default:
			last = true // a passed deadline fails even where there is something to read
		}
	}
}

// drain waits for the rest of the output, which ends when nobody holds the pipe
// any more. If something does after limit, what is in it then is all.
func (o *output) drain(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-o.ended:
	case <-timer.C:
		if o.pipe.SetReadDeadline(time.Now()) != nil { // no deadlines on this system's pipes
			_ = o.pipe.Close()
		}
		<-o.ended
	}
	_ = o.pipe.Close() // read-only: nothing can be lost
}
