package shell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// command is a running shell, its output and the processes that it starts.
type command struct {
	cmd     *exec.Cmd
	started time.Time
	out     *output
	apart   *streams
	tree    *tree
	// unwatched is the reason for a missing watchdog if this command must report it.
	unwatched error
}

// start starts a command. It passes the output to sink, one call at a time, until wait
// has returned.
func (j *Jobs) start(opts Options, sink func([]byte)) (*command, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("no pipe for the command's output: %w", err)
	}
	env := opts.Env
	if env == nil {
		env = Environ(os.Environ(), nil)
	}
	mark := j.family.dog.mark + rand.Text()
	cmd := shellCommand(opts.Line, opts.Dir)
	cmd.Dir, cmd.Env = opts.Dir, slices.Concat(env, lineVariables(opts.Line, opts.Dir), []string{mark})
	cmd.Stdout, cmd.Stderr = w, w
	apart, err := opts.streams(cmd)
	if err != nil {
		return nil, errors.Join(err, w.Close(), r.Close())
	}
	started := time.Now()
	shell, unwatched, err := j.family.start(cmd, opts.Sandbox, r)
	_ = w.Close() // the command has its own copy
	apart.started()
	if err != nil {
		_ = r.Close()
		apart.close()
		return nil, fmt.Errorf("the command could not be started: %w", err)
	}
	c := &command{cmd: cmd, started: started, out: newOutput(r), apart: apart, tree: newTree(&j.family, shell, mark, r), unwatched: unwatched}
	go c.out.pump(sink)
	apart.pump(opts)
	go c.reap()
	return c, nil
}

// reap waits for the shell. Its status is in cmd.ProcessState.
func (c *command) reap() {
	defer crash.Guard()
	defer close(c.tree.exited)
	_ = c.cmd.Wait() // ProcessState has the status
	c.tree.family.reaped(c.tree.shell.pid)
}

// ending describes how a command ended.
type ending struct {
	code              int
	timedOut, stopped bool
	moved             bool // it has not ended
	took              time.Duration
	left              leftovers
}

// wait waits until the shell exits, stop is closed or the timeout is over (zero: never),
// ends all remaining processes, and returns when the output is complete. It waits for
// both of the command's goroutines. Once moved is closed it returns at once, and the caller
// waits again.
func (c *command) wait(stop, moved <-chan struct{}, timeout time.Duration) ending {
	var end ending
	var over <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-c.tree.exited:
	case <-moved:
		return ending{moved: true}
	case <-over:
		end.timedOut = true
	case <-stop:
		end.stopped = true
	}
	ended := time.Now()
	if end.timedOut || end.stopped {
		end.left = c.tree.endNow()
	} else {
		end.left = c.tree.endLeft(stop)
		if len(end.left.ended)+len(end.left.survivors) == 0 {
			ended = time.Now() // by themselves: the rest of their output may still be in the pipe
		}
	}
	c.out.drain(max(drainTime, exitTime-time.Since(ended)))
	c.apart.drain(max(drainTime, exitTime-time.Since(ended)))
	<-c.tree.exited
	c.tree.family.release(c.tree.shell.pid)
	end.left.unwatched = c.unwatched
	end.code = exitCode(c.cmd.ProcessState)
	end.took = time.Since(c.started)
	return end
}
