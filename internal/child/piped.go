package child

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Starter starts a program, for example in a room; ended is called once the program has ended.
type Starter func(cmd *exec.Cmd) (ended func(), err error)

// Piped is a program that is talked to over its standard input and output.
type Piped struct {
	In    io.WriteCloser
	Out   io.ReadCloser // outlives cmd.Wait
	Ended func()        // is to be called once the program has ended
}

// StartPiped starts cmd Apart, by start unless it is nil.
func StartPiped(cmd *exec.Cmd, start Starter) (p Piped, err error) {
	if start == nil {
		start = startGroup
	}
	cmd.WaitDelay = time.Second // a leftover of it may hold its standard error
	Apart(cmd)
	if p.In, err = cmd.StdinPipe(); err != nil {
		return p, err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return p, errors.Join(err, p.In.Close())
	}
	p.Out, cmd.Stdout = out, in
	p.Ended, err = start(cmd)
	_ = in.Close() // the program has its own
	if err != nil {
		_ = p.In.Close() // Start has closed it, too
		return p, errors.Join(err, out.Close())
	}
	return p, nil
}

// Tail keeps the last Limit bytes of a program's output. It is safe for concurrent use.
type Tail struct {
	Limit int

	mu   sync.Mutex
	last []byte
}

// Write implements io.Writer. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p[max(0, len(p)-t.Limit):]...)
	if len(t.last) > t.Limit {
		t.last = bytes.Clone(t.last[len(t.last)-t.Limit:])
	}
	return len(p), nil
}

// String returns the last bytes.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}
