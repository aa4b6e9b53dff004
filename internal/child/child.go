// Package child runs the small programs that help this one. On Linux it guarantees
// that none of them outlives this program, however that ends, and that none takes
// more memory than it may; everywhere, that none says more than is kept.
package child

import (
	"bytes"
	"errors"
	"os/exec"
	"runtime"
)

// Memory is what a helper may take, in bytes.
const Memory = 1 << 30

// Run starts cmd, whose context limits its time, and waits for it. memory limits the
// bytes of data that it may hold; zero is no limit.
func Run(cmd *exec.Cmd, memory uint64) error {
	// The system ends the child when the thread ends that has started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tie(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	if memory > 0 {
		limit(cmd.Process.Pid, memory)
	}
	return cmd.Wait()
}

// ErrTooMuch is returned by a Buffer that is full.
var ErrTooMuch = errors.New("the program says too much")

// Buffer holds what a program says, up to Limit bytes. A program that says more
// loses its output's other end.
type Buffer struct {
	Limit int

	said bytes.Buffer
}

// Write keeps p, or returns ErrTooMuch.
func (b *Buffer) Write(p []byte) (int, error) {
	if b.said.Len()+len(p) > b.Limit {
		return 0, ErrTooMuch
	}
	return b.said.Write(p)
}

// Bytes returns what was said.
func (b *Buffer) Bytes() []byte { return b.said.Bytes() }
