// Package shell runs command lines. It guarantees that a command has no access
// to the program's terminal, input or secrets, that its output takes a bounded
// amount of memory however much there is, that Run returns within a second of
// the shell's exit, and that no process a command started outlives it
// unnamed: what is left of the tree is ended, and what cannot be is reported.
//
// The last guarantee is whole on Linux, where the program adopts orphans. On
// other Unix systems a process that moved to a session of its own is not found;
// on Windows the tree is ended by taskkill. With a watchdog it holds when the program
// is killed, too, but for what on Linux is in a session of its own with another
// environment and other output, and on Windows.
package shell

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// DefaultLimit is the number of characters of output that is kept for the model.
const DefaultLimit = 30_000

// Options describes one command.
type Options struct {
	Line string // for bash -c, sh -c where there is no bash, cmd /c on Windows
	Dir  string // absolute; must exist
	// Env is the whole environment, see Environ; nil means what Environ makes of
	// the program's own.
	Env []string
	// Timeout ends the command; zero means none.
	Timeout time.Duration
	// Output, if not nil, is given output as it comes, at most about 20 times a
	// second, from another goroutine, and never after Run has returned. Under a
	// flood it sees the newest part only. It must not block for ever.
	Output func(chunk string)
	// SpillDir is the folder for output that is over the limit, made (0700) if
	// missing; empty means that such output is lost.
	SpillDir string
	// Limit is the number of characters in Result.Output; zero means DefaultLimit.
	Limit int
}

// Result is what a command came to.
type Result struct {
	// ExitCode is the shell's status; 128+n if signal n ended it, and -1 if the
	// command was cancelled before it began.
	ExitCode int
	// Output is stdout and stderr as they came, valid UTF-8, at most Limit
	// characters and, where the middle was left out, one line that says so. Of
	// binary output it holds one line that says how much there was.
	Output    string
	Lines     int    // of the whole output
	Omitted   int64  // bytes left out of Output
	Spill     string // file (0600) with the output from its beginning, up to 64 MiB; empty if nothing was left out
	TimedOut  bool
	Cancelled bool // ctx ended before the command did
	Took      time.Duration
	// Notes are sentences for the model and the user: which processes were left
	// over and ended, which could not be ended.
	Notes []string
}

// Jobs runs commands and owns their processes: Run in the foreground, Start in
// the background. A program makes one, and closes it when it ends; on Linux it
// makes the program the one that adopts the orphans of its commands. It is safe
// for concurrent use.
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

// Watchdog has the commands ended even if this program is killed: by another process,
// the program argv[0] with the arguments argv[1:] (the name that it sees comes first),
// which has to call Watch on its standard input. It is called before the first command,
// and does nothing on Windows.
func (j *Jobs) Watchdog(argv ...string) {
	if hasWatchdog {
		j.family.dog.argv = argv
	}
}

// Run runs a command to its end. Processes that it leaves in the background
// are ended too. A command that fails, times out or is cancelled is a Result; an
// error means that it could not be started.
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
		Notes: append(end.rest.notes(), out.Notes...),
	}, nil
}

// capture is what keeps the output.
func (o Options) capture() *capture {
	limit := o.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	return newCapture(limit, o.SpillDir)
}

// check refuses what the system would refuse with a message that says less.
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
