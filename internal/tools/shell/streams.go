package shell

import (
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// streams are the standard input and output of a command, if they are apart from its
// output. Missing ones are nil.
type streams struct {
	theirs []*os.File // the command's ends, open until it has started
	input  *os.File   // our end
	fed    chan struct{}
	stdout *output
}

// streams connects cmd to the pipes that o asks for.
func (o Options) streams(cmd *exec.Cmd) (*streams, error) {
	s := &streams{}
	if o.Input != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("no pipe for the command's input: %w", err)
		}
		cmd.Stdin, s.input = r, w
		s.theirs = append(s.theirs, r)
	}
	if o.Stdout != nil {
		r, w, err := os.Pipe()
		if err != nil {
			s.started()
			s.close()
			return nil, fmt.Errorf("no pipe for the command's output: %w", err)
		}
		cmd.Stdout, s.stdout = w, newOutput(r)
		s.theirs = append(s.theirs, w)
	}
	return s, nil
}

// started closes the command's ends, of which it has copies.
func (s *streams) started() {
	for _, f := range s.theirs {
		_ = f.Close()
	}
	s.theirs = nil
}

// close closes our ends of pipes that nobody uses.
func (s *streams) close() {
	if s.input != nil {
		_ = s.input.Close()
	}
	if s.stdout != nil {
		_ = s.stdout.pipe.Close()
	}
}

// pump begins to copy, until drain.
func (s *streams) pump(o Options) {
	if s.input != nil {
		s.fed = make(chan struct{})
		go func() {
			defer crash.Guard()
			defer close(s.fed)
			_, _ = s.input.Write(o.Input) // a command need not read it
			_ = s.input.Close()
		}()
	}
	if s.stdout != nil {
		go s.stdout.pump(func(p []byte) { _, _ = o.Stdout.Write(p) }) // an error of theirs is theirs
	}
}

// drain waits for the rest, see output.drain.
func (s *streams) drain(limit time.Duration) {
	if s.stdout != nil {
		s.stdout.drain(limit)
	}
	if s.input != nil {
		_ = s.input.SetWriteDeadline(time.Now()) // the command has ended; where pipes have no deadlines, it has closed its end
		<-s.fed
	}
}
