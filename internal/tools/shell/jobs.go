package shell

import (
	"errors"
	"fmt"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// errClosed is returned for a start after Close.
var errClosed = errors.New("the session has ended: no command is started any more")

// Job describes a command in the background.
type Job struct {
	ID       string
	Line     string
	Log      string // file (0600) with the output, up to 64 MiB
	Running  bool
	ExitCode int // once it is not running any more
	Started  time.Time
}

// job is a command in the background. out belongs to the goroutine that runs
// the job until done is closed.
type job struct {
	id, line, log string
	started       time.Time
	stop          chan struct{} // closed under Jobs.mu, once
	stopping      bool          // guarded by Jobs.mu
	out           *capture
	done          chan struct{} // closed when the following are valid
	code          int
	text          string
	survivors     []process
}

// Start starts a command in the background, without a time limit; Timeout and
// Output are not used, and SpillDir, which holds the log, is needed. When its
// shell exits, what it leaves behind is ended as by Run.
func (j *Jobs) Start(opts Options) (Job, error) {
	if opts.SpillDir == "" {
		return Job{}, errors.New("a command in the background needs a folder for its log")
	}
	b, err := j.enter(opts)
	if err != nil {
		return Job{}, err
	}
	c, err := j.start(opts, b.out.Write)
	if err != nil {
		b.out.Discard()
		j.leave(b)
		j.wg.Done()
		return Job{}, err
	}
	go func() {
		defer crash.Guard()
		defer j.wg.Done()
		b.run(c)
	}()
	return b.describe(), nil
}

// enter makes a job with its log, so that Close knows of it from the first.
func (j *Jobs) enter(opts Options) (*job, error) {
	out := opts.capture()
	log, err := out.Log()
	if err != nil {
		return nil, fmt.Errorf("the log of the command cannot be written: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		out.Discard()
		return nil, errClosed
	}
	j.last++
	b := &job{
		id: fmt.Sprintf("job-%d", j.last), line: opts.Line, log: log, started: time.Now(),
		stop: make(chan struct{}), done: make(chan struct{}), out: out,
	}
	j.jobs = append(j.jobs, b)
	j.wg.Add(1)
	return b, nil
}

// leave forgets a job that could not be started.
func (j *Jobs) leave(b *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, other := range j.jobs {
		if other == b {
			j.jobs = append(j.jobs[:i:i], j.jobs[i+1:]...)
			return
		}
	}
}

// run waits for the job's end.
func (b *job) run(c *command) {
	defer close(b.done)
	end := c.wait(b.stop, 0)
	out := b.out.Finish()
	b.out = nil // a long session may start many
	b.code, b.survivors = end.code, end.rest.survivors
	b.text = out.Text
	for _, note := range append(end.rest.notes(), out.Notes...) {
		b.text += "\n[" + note + "]"
	}
}

// describe returns what is known of b now.
func (b *job) describe() Job {
	d := Job{ID: b.id, Line: b.line, Log: b.log, Running: true, Started: b.started}
	select {
	case <-b.done:
		d.Running, d.ExitCode = false, b.code
	default:
	}
	return d
}

// Kill ends a job with all its processes and returns its output, in the form and
// with the limit of Result.Output, and notes as in Result.Notes. A job that has ended already is no error; an
// unknown id is.
func (j *Jobs) Kill(id string) (output string, err error) {
	j.mu.Lock()
	b := j.find(id)
	j.mu.Unlock()
	if b == nil {
		return "", fmt.Errorf("there is no background command %q", id)
	}
	j.end(b)
	<-b.done
	return b.text, nil
}

// find returns the job with the id, or nil. j.mu is held.
func (j *Jobs) find(id string) *job {
	for _, b := range j.jobs {
		if b.id == id {
			return b
		}
	}
	return nil
}

// end asks b to end, once.
func (j *Jobs) end(b *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !b.stopping {
		b.stopping = true
		close(b.stop)
	}
}

// List returns the jobs in the order in which they were started, those that
// ended included.
func (j *Jobs) List() []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := make([]Job, 0, len(j.jobs))
	for _, b := range j.jobs {
		list = append(list, b.describe())
	}
	return list
}

// Close ends all jobs and waits for them, three seconds at most for those that do
// not end when asked. The error names processes that could not be ended.
// Nothing can be started afterwards. Close may be called more than once.
func (j *Jobs) Close() error {
	j.mu.Lock()
	j.closed = true
	jobs := j.jobs
	j.mu.Unlock()
	for _, b := range jobs {
		j.end(b)
	}
	j.wg.Wait()
	j.family.close()
	var errs []error
	for _, b := range jobs {
		if len(b.survivors) > 0 {
			errs = append(errs, fmt.Errorf("%s: %s", b.id, rest{survivors: b.survivors}.notes()[0]))
		}
	}
	return errors.Join(errs...)
}
