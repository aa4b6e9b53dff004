package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// errClosed is returned by Start and Run after Close.
var errClosed = errors.New("the session has ended: no more commands can be started")

// Jobs runs commands and owns their processes: Run in the foreground, Start in the
// background. A program creates one and closes it when it ends. On Linux, Jobs makes the
// program adopt the orphans of its commands. It is safe for concurrent use.
type Jobs struct {
	// Encoding is the encoding of output that is not UTF-8; empty means unknown. It is set before
	// the first command.
	Encoding text.Encoding
	// Changed, if not nil, is called when a job has begun or ended, from any goroutine. It is set
	// before the first command.
	Changed func()

	family family

	mu      sync.Mutex
	jobs    []*job
	running []*job // of jobs
	front   *front // may be moved to the background; nil if none may
	last    int    // number of the latest job
	closed  bool
	wg      sync.WaitGroup
}

// NewJobs returns an empty set of jobs.
func NewJobs() *Jobs {
	adoptOrphans()
	return &Jobs{family: newFamily()}
}

// Watchdog starts another process that ends the commands even if this program is killed:
// the program argv[0], with argv as its arguments including the name, which must call
// Watch on its standard input. Call it before the first command. It does nothing on
// Windows, where the system does the same.
func (j *Jobs) Watchdog(argv ...string) {
	if hasWatchdog {
		j.family.dog.argv = argv
	}
}

// Run runs a command to its end, and ends processes that it leaves in the background. A
// command that fails, times out or is cancelled gives a Result; an error means that it
// could not be started.
func (j *Jobs) Run(ctx context.Context, opts Options) (Result, error) {
	select {
	case <-ctx.Done():
		return Result{ExitCode: -1, Cancelled: true}, nil
	default:
	}
	f := &front{line: opts.Line, limit: opts.Timeout, kept: opts.capture(j.Encoding), moved: make(chan struct{})}
	report := newReporter(opts.Output, j.Encoding)
	c, err := j.start(opts, func(p []byte) { f.write(p); report.add(p) })
	if err != nil {
		report.close()
		return Result{}, err
	}
	if opts.Moved != nil {
		j.bring(f, c.started)
	}
	end := c.wait(ctx.Done(), f.moved, opts.Timeout)
	report.close()
	if b := j.retire(f, end.moved); b != nil {
		opts.Moved(b.describe())
		j.follow(b, c, opts.Ended)
		return Result{Moved: true, Took: time.Since(c.started)}, nil
	}
	out := f.kept.Finish()
	return Result{
		ExitCode: end.code, TimedOut: end.timedOut, Cancelled: end.stopped, Took: end.took,
		Output: out.Text, Lines: out.Lines, Omitted: out.Omitted, Spill: out.File,
		Notes: append(end.left.notes(), out.Notes...),
	}, nil
}

// Job describes a background command.
type Job struct {
	ID       string
	Line     string
	Log      string // file (0600) with the output, up to 64 MiB
	Running  bool
	ExitCode int // valid once it is not running
	Started  time.Time

	encoding text.Encoding // as of Jobs
}

// latestSize is the number of bytes of a log that Latest reads.
const latestSize = 4 << 10

// Latest returns the last lines of the job's output, as it is now; "" if they cannot be read.
func (d Job) Latest() string {
	f, err := os.Open(d.Log)
	if err != nil {
		return ""
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	from := max(0, end-latestSize)
	tail := make([]byte, end-from)
	n, err := f.ReadAt(tail, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	lines := strings.Split(strings.TrimRight(text.Output(tail[:n], d.encoding), "\n"), "\n")
	if from > 0 && len(lines) > 1 {
		lines = lines[1:] // cut off
	}
	return strings.Join(lines[max(0, len(lines)-latestLines):], "\n")
}

// latestLines is the number of lines that Latest returns.
const latestLines = 12

// job is a background command. The goroutine that runs the job owns out until done is
// closed.
type job struct {
	id, line, log string
	encoding      text.Encoding
	started       time.Time
	stop          chan struct{} // closed under Jobs.mu, once
	stopping      bool          // guarded by Jobs.mu
	out           *capture
	done          chan struct{} // closed when the fields below are valid
	code          int
	text          string
	survivors     []process
}

// Start starts a background command without a time limit. It ignores Timeout and Output
// and requires SpillDir, which holds the log. When the shell exits, Start ends the
// remaining processes like Run.
func (j *Jobs) Start(opts Options) (Job, error) {
	if opts.SpillDir == "" {
		return Job{}, errors.New("a background command needs a folder for its log")
	}
	out := opts.capture(j.Encoding)
	b, err := j.enter(opts.Line, out, time.Now())
	if err != nil {
		out.Discard()
		return Job{}, err
	}
	c, err := j.start(opts, out.Write)
	if err != nil {
		out.Discard()
		j.leave(b)
		return Job{}, err
	}
	started := b.describe()
	j.follow(b, c, opts.Ended)
	return started, nil
}

// follow waits for the end of b in a goroutine.
func (j *Jobs) follow(b *job, c *command, ended func()) {
	j.changed()
	go func() {
		defer crash.Guard()
		defer j.wg.Done()
		b.run(c, ended)
		j.mu.Lock()
		j.running = unlisted(j.running, b)
		j.mu.Unlock()
		j.changed()
	}()
}

func (j *Jobs) changed() {
	if j.Changed != nil {
		j.Changed()
	}
}

// enter creates a job with its log, so that Close knows it from the start. On an error the
// caller owns out.
func (j *Jobs) enter(line string, out *capture, started time.Time) (*job, error) {
	log, err := out.Log()
	if err != nil {
		return nil, fmt.Errorf("the log of the command cannot be written: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, errClosed
	}
	j.last++
	b := &job{
		id: fmt.Sprintf("job-%d", j.last), line: line, log: log, encoding: j.Encoding, started: started,
		stop: make(chan struct{}), done: make(chan struct{}), out: out,
	}
	j.jobs, j.running = append(j.jobs, b), append(j.running, b)
	j.wg.Add(1)
	return b, nil
}

// leave removes a job that does not run.
func (j *Jobs) leave(b *job) {
	defer j.wg.Done()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.jobs, j.running = unlisted(j.jobs, b), unlisted(j.running, b)
}

func unlisted(list []*job, b *job) []*job {
	return slices.DeleteFunc(list, func(other *job) bool { return other == b })
}

// run waits for the job to end, then calls ended, which may be nil.
func (b *job) run(c *command, ended func()) {
	defer close(b.done)
	end := c.wait(b.stop, nil, 0)
	out := b.out.Finish()
	b.out = nil // a long session may start many
	b.code, b.survivors = end.code, end.left.survivors
	b.text = out.Text
	for _, note := range append(end.left.notes(), out.Notes...) {
		b.text += "\n[" + note + "]"
	}
	if ended != nil {
		ended()
	}
}

// describe returns the current state of b.
func (b *job) describe() Job {
	d := Job{ID: b.id, Line: b.line, Log: b.log, Running: true, Started: b.started, encoding: b.encoding}
	select {
	case <-b.done:
		d.Running, d.ExitCode = false, b.code
	default:
	}
	return d
}

// Kill ends a job with all its processes and returns its output, formatted and limited
// like Result.Output, with notes like Result.Notes. It returns an error for an unknown
// id, but not for a job that has ended already.
func (j *Jobs) Kill(id string) (output string, err error) {
	j.mu.Lock()
	b := j.find(id)
	j.mu.Unlock()
	if b == nil {
		return "", fmt.Errorf("no background command %q", id)
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

// List returns all jobs in order of their start, including ended ones.
func (j *Jobs) List() []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return describe(j.jobs)
}

// Running returns the jobs that run. Its cost does not grow with the jobs that have ended.
func (j *Jobs) Running() []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return describe(j.running)
}

func describe(jobs []*job) []Job {
	list := make([]Job, 0, len(jobs))
	for _, b := range jobs {
		list = append(list, b.describe())
	}
	return list
}

// Close ends all jobs and waits for them, at most three seconds for those that do not end
// when asked. The error names processes that could not be ended. Nothing can be started
// afterwards. Close may be called more than once.
func (j *Jobs) Close() error {
	j.mu.Lock()
	j.closed = true
	jobs := slices.Clone(j.jobs)
	j.mu.Unlock()
	for _, b := range jobs {
		j.end(b)
	}
	j.wg.Wait()
	j.family.close()
	var errs []error
	for _, b := range jobs {
		if len(b.survivors) > 0 {
			errs = append(errs, fmt.Errorf("%s: %s", b.id, leftovers{survivors: b.survivors}.notes()[0]))
		}
	}
	return errors.Join(errs...)
}
