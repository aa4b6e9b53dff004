package shell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// patience is how long the steps of ending processes may take.
type patience struct {
	grace time.Duration // between TERM and KILL
	kill  time.Duration // for the killed to disappear
}

// How long the ways to an end may take. What follows the shell's own exit
// (settleTime, afterExit, then drainTime at least and twice lastReads) adds up to
// less than a second.
const (
	settleTime = 300 * time.Millisecond // for what ends by itself just after the shell, like >(tee log)
	exitTime   = 900 * time.Millisecond // for all of it, where the pipe stays open
	drainTime  = 50 * time.Millisecond  // for output, when nobody is left who should write any
	lastReads  = 40 * time.Millisecond  // for what is in the pipe when the waiting is over
)

var (
	afterExit = patience{grace: 250 * time.Millisecond, kill: 300 * time.Millisecond}
	whenTold  = patience{grace: 2 * time.Second, kill: time.Second} // on a timeout and when cancelled
)

// maxLine is the longest command line in bytes; Linux takes no longer argument.
const maxLine = 128<<10 - 1

// markName is the variable that tells which processes belong to a command,
// whatever session they moved to.
const markName = "AGENT_COMMAND"

// command is a running shell and the processes it starts.
type command struct {
	jobs    *Jobs
	cmd     *exec.Cmd
	mark    string // NAME=value in the environment
	started time.Time
	birth   uint64   // see identity.start
	pipe    *os.File // our end of its output
	pumped  chan struct{}
	exited  chan struct{} // closed when the shell has been waited for

	// What left has seen; it belongs to wait.
	alone bool              // we have no child at all
	known map[identity]bool // the command's, dead or alive
}

// start starts a command whose output goes to sink, one call at a time, until
// wait has returned.
func (j *Jobs) start(opts Options, sink func([]byte)) (*command, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("no pipe for the command's output: %w", err)
	}
	c := &command{
		jobs: j, cmd: shellCommand(opts.Line), mark: markName + "=" + rand.Text(), started: time.Now(),
		pipe: r, pumped: make(chan struct{}), exited: make(chan struct{}), known: map[identity]bool{},
	}
	c.cmd.Dir = opts.Dir
	env := opts.Env
	if env == nil {
		env = Environ(os.Environ(), nil)
	}
	c.cmd.Env = slices.Concat(env, []string{c.mark})
	c.cmd.Stdout, c.cmd.Stderr = w, w
	err = j.register(c)
	_ = w.Close() // the command has its own
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("the command could not be started: %w", err)
	}
	go c.pump(sink)
	go c.reap()
	return c, nil
}

// register starts the shell and enters it before anybody can look for orphans:
// a shell that is not entered would pass for one.
func (j *Jobs) register(c *command) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := c.cmd.Start(); err != nil {
		return err
	}
	j.shells[c.cmd.Process.Pid] = true
	j.active++
	c.birth = birth(c.cmd.Process.Pid)
	return nil
}

// release says that a command has ended, with all that it started.
func (j *Jobs) release() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.active--
}

// pump moves output to sink until nobody holds the other end of the pipe or its
// deadline has passed.
func (c *command) pump(sink func([]byte)) {
	defer close(c.pumped)
	buf := make([]byte, 64<<10)
	for last := false; ; {
		n, err := c.pipe.Read(buf)
		if n > 0 {
			sink(buf[:n])
		}
		switch {
		case err == nil:
		case last || !errors.Is(err, os.ErrDeadlineExceeded) || c.pipe.SetReadDeadline(time.Now().Add(lastReads)) != nil:
			return
		default:
			last = true // a passed deadline fails even where there is something to read
		}
	}
}

// reap waits for the shell. Its status is in cmd.ProcessState.
func (c *command) reap() {
	defer close(c.exited)
	_ = c.cmd.Wait() // the status says it all
	c.jobs.mu.Lock()
	defer c.jobs.mu.Unlock()
	delete(c.jobs.shells, c.cmd.Process.Pid)
}

// ending is how a command ended.
type ending struct {
	code              int
	timedOut, stopped bool
	took              time.Duration
	rest              rest
}

// rest is what the shell left behind when it exited or was ended.
type rest struct {
	ended     []process
	survivors []process // could not be ended
	strays    []process // see command.strays
}

// notes describes the rest for people and models.
func (r rest) notes() (notes []string) {
	for _, part := range []struct {
		ps   []process
		what string
	}{
		{r.ended, "left in the background and ended"},
		{r.survivors, "impossible to end and may still be running"},
		{r.strays, "cut loose from the command and may still be running"},
	} {
		if len(part.ps) > 0 {
			notes = append(notes, fmt.Sprintf("%s %s: %s", count(len(part.ps)), part.what, list(part.ps)))
		}
	}
	return notes
}

// wait waits until the shell exits, stop is closed or the time is over (zero:
// never), ends all that is left, and returns when the output is complete. It
// waits for both of the command's goroutines.
func (c *command) wait(stop <-chan struct{}, timeout time.Duration) ending {
	var end ending
	var over <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-c.exited:
	case <-over:
		end.timedOut = true
	case <-stop:
		end.stopped = true
	}
	ended := time.Now()
	if end.timedOut || end.stopped {
		end.rest.survivors = c.end(c.left(), whenTold)
	} else {
		end.rest = c.endLeft()
	}
	c.drain(max(drainTime, exitTime-time.Since(ended)))
	<-c.exited
	c.jobs.release()
	end.code = exitCode(c.cmd.ProcessState)
	end.took = time.Since(c.started)
	return end
}

// endLeft ends what the shell left behind when it exited.
func (c *command) endLeft() rest {
	var r rest
	if left := c.settle(settleTime); len(left) > 0 {
		r.survivors = c.end(left, afterExit)
		r.ended = without(left, r.survivors)
	}
	r.strays = c.strays()
	return r
}

// end asks left, and what comes to light meanwhile, to terminate, kills what has
// not done so when p.grace is over, and returns what is still there after p.kill.
func (c *command) end(left []process, p patience) []process {
	c.terminate(left)
	if left = c.settle(p.grace); len(left) == 0 {
		return nil
	}
	deadline := time.NewTimer(p.kill)
	defer deadline.Stop()
	for pause := time.Millisecond; len(left) > 0; pause = min(2*pause, 20*time.Millisecond) {
		c.kill(left) // again each time: it may have forked
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return c.left()
		}
		left = c.left()
	}
	return nil
}

// settle waits at most limit for the command's processes to be gone and returns
// those that are not. There is no event for the end of a process that is not
// ours, so it looks again, after 1 to 20 ms; where nothing is left, at once.
func (c *command) settle(limit time.Duration) []process {
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left := c.left()
		if len(left) == 0 || !time.Now().Before(deadline) {
			return left
		}
		<-time.After(pause)
	}
}

// drain waits for the rest of the output, which ends when nobody holds the pipe
// any more. If something does after limit, what is in it then is all.
func (c *command) drain(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.pumped:
	case <-timer.C:
		if c.pipe.SetReadDeadline(time.Now()) != nil { // no deadlines on this system's pipes
			_ = c.pipe.Close()
		}
		<-c.pumped
	}
	_ = c.pipe.Close() // read-only: nothing can be lost
}

// hasExited says whether the shell has been waited for.
func (c *command) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// identity tells processes apart for good, where a pid can be used again.
type identity struct {
	pid   int
	start uint64 // since the system's start, in its ticks; zero where it is not known
}

// process is one process of a command, under the name that it had when it was
// seen.
type process struct {
	identity
	name string
}

// without returns the processes of ps that are not in gone.
func without(ps, gone []process) []process {
	var kept []process
	for _, p := range ps {
		found := false
		for _, g := range gone {
			found = found || p.identity == g.identity
		}
		if !found {
			kept = append(kept, p)
		}
	}
	return kept
}

func count(n int) string {
	if n == 1 {
		return "1 process was"
	}
	return fmt.Sprintf("%d processes were", n)
}

// list names at most ten processes.
func list(ps []process) string {
	var names []string
	for i, p := range ps {
		if i == 10 {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%s (pid %d)", p.name, p.pid))
	}
	return strings.Join(names, ", ")
}
