package shell

import (
	"errors"
	"os"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// How long to read output after the shell, and processes that end by themselves, have exited.
const (
	exitTime  = 900 * time.Millisecond // if the pipe stays open, including the end of processes
	drainTime = 50 * time.Millisecond  // when nobody is left who should write any
	lastReads = 40 * time.Millisecond  // for the rest of the pipe when the wait is over
)

// Output is read in pieces of firstRead bytes and, once one is full, of laterReads, the
// size of a pipe.
const (
	firstRead  = 4 << 10
	laterReads = 64 << 10
)

// output is our end of a command's output pipe.
type output struct {
	pipe  *os.File
	ended chan struct{} // closed when pump has returned
}

func newOutput(pipe *os.File) *output {
	return &output{pipe: pipe, ended: make(chan struct{})}
}

// pump copies output to sink until nobody holds the other end of the pipe or its deadline
// has passed.
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
			last = true // a passed deadline fails even if there is data
		}
	}
}

// drain waits for the rest of the output, which ends when nobody holds the pipe. After
// limit, it takes only the bytes in the pipe by then.
func (o *output) drain(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-o.ended:
	case <-timer.C:
		if o.pipe.SetReadDeadline(time.Now()) != nil { // this system's pipes have no deadlines
			_ = o.pipe.Close()
		}
		<-o.ended
	}
	_ = o.pipe.Close() // read-only: nothing can be lost
}
