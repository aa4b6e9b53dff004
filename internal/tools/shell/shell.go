// Package shell runs command lines. It guarantees that a command has no access to the
// program's terminal, input or secrets, that its output takes a bounded amount of memory,
// that Run returns within a second of the shell's exit, and that no process of a command
// outlives it unnoticed: remaining processes are ended, and those that cannot be ended
// are reported.
//
// The last guarantee holds fully on Linux, where the program adopts orphans. On other
// Unix systems a process that moved to a new session is not found; on Windows taskkill
// ends the process tree. With a watchdog it also holds if the program is killed, except
// on Windows and, on Linux, for processes in a new session with another environment and
// other output.
package shell

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// DefaultLimit is the number of characters of output kept for the model.
const DefaultLimit = 30_000

// Options describes one command.
type Options struct {
	Line string // for bash -c, sh -c if there is no bash, cmd /c on Windows
	Dir  string // absolute; must exist
	// Env is the whole environment, see Environ; nil means Environ of the program's own.
	Env []string
	// Timeout ends the command; zero means none.
	Timeout time.Duration
	// Output, if not nil, receives output as it comes, at most about 20 times a second,
	// from another goroutine, and never after Run has returned. In a flood it gets only
	// the newest part. It must not block forever.
	Output func(chunk string)
	// SpillDir is the folder for output over the limit, created (0700) if missing; empty
	// means that such output is lost.
	SpillDir string
	// Limit is the number of characters in Result.Output; zero means DefaultLimit.
	Limit int
}

// Result is the result of a command.
type Result struct {
	// ExitCode is the shell's status: 128+n if signal n ended it, and -1 if the command
	// was cancelled before it began.
	ExitCode int
	// Output is stdout and stderr interleaved as valid UTF-8, at most Limit characters.
	// If the middle was left out, one more line notes that. For binary output it is a
	// single line with the size.
	Output    string
	Lines     int    // of the whole output
	Omitted   int64  // bytes left out of Output
	Spill     string // file (0600) with the output from its beginning, up to 64 MiB; empty if nothing was left out
	TimedOut  bool
	Cancelled bool // ctx ended before the command did
	Took      time.Duration
	// Notes are sentences for the model and the user about leftover processes that were
	// ended or could not be ended.
	Notes []string
}

// Jobs runs commands and owns their processes: Run in the foreground, Start in the
// background. A program creates one and closes it when it ends. On Linux, Jobs makes the
// program adopt the orphans of its commands. It is safe for concurrent use.
type Jobs struct {
	family family

	mu     sync.Mutex
	jobs   []*job
	last   int // number of the latest job
	closed bool
	wg     sync.WaitGroup
}

// NewJobs returns an empty set of jobs.
func NewJobs() *Jobs {
	adoptOrphans()
	return &Jobs{family: newFamily()}
}

// Watchdog starts another process that ends the commands even if this program is killed:
// the program argv[0], with argv as its arguments including the name, which must call
// Watch on its standard input. Call it before the first command. It does nothing on
// Windows.
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
	kept := opts.capture()
	report := newReporter(opts.Output)
	c, err := j.start(opts, func(p []byte) { kept.Write(p); report.add(p) })
	if err != nil {
		report.close()
		return Result{}, err
	}
	end := c.wait(ctx.Done(), opts.Timeout)
	report.close()
	out := kept.Finish()
	return Result{
		ExitCode: end.code, TimedOut: end.timedOut, Cancelled: end.stopped, Took: end.took,
		Output: out.Text, Lines: out.Lines, Omitted: out.Omitted, Spill: out.File,
		Notes: append(end.left.notes(), out.Notes...),
	}, nil
}

// capture returns the capture for the output.
func (o Options) capture() *capture {
	limit := o.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	return newCapture(limit, o.SpillDir)
}

// check returns clearer errors than the system for commands that it would refuse.
func (o Options) check() error {
	if strings.Contains(o.Line, "\x00") {
		return fmt.Errorf("the command contains a NUL byte, which no shell accepts")
	}
	if len(o.Line) > maxLine {
		return fmt.Errorf("the command is %d bytes long and the system takes %d: put it into a file and run that", len(o.Line), maxLine)
	}
	info, err := os.Stat(o.Dir)
	if err != nil {
		return fmt.Errorf("the command's folder cannot be used: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("the command's folder %s is a file", o.Dir)
	}
	return nil
}
