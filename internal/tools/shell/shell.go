// Package shell runs command lines. It guarantees that a command has no access
// to the program's terminal, input or secrets, that its output takes a bounded
// amount of memory however much there is, that Run returns within a second of
// the shell's exit, and that no process a command started outlives it
// unnamed: what is left of the tree is ended, and what cannot be is reported.
package shell

import (
	"context"
	"time"
)

// DefaultLimit is the number of characters of output that is kept for the model.
const DefaultLimit = 30_000

// Options describes one command.
type Options struct {
	Line string // for bash -c, sh -c where there is no bash, cmd /c on Windows
	Dir  string // absolute; must exist
	// Env is the whole environment, see Environ; nil means Environ(os.Environ()).
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
	// ExitCode is the shell's status; 128+n if signal n ended it.
	ExitCode int
	// Output is stdout and stderr as they came, valid UTF-8, at most Limit
	// characters and, where the middle was left out, one line that says so.
	Output    string
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
// the background. A program makes one, and closes it when it ends. It is safe
// for concurrent use.
type Jobs struct{}

// NewJobs returns an empty set of jobs.
func NewJobs() *Jobs { return &Jobs{} }

// Run runs a command to its end. Processes that it leaves in the background
// are ended too. A command that fails, times out or is cancelled is a Result; an
// error means that it could not be started.
func (j *Jobs) Run(ctx context.Context, opts Options) (Result, error) { return Result{}, nil }

// Job describes a command in the background.
type Job struct {
	ID       string
	Line     string
	Log      string // file (0600) with the output, up to 64 MiB
	Running  bool
	ExitCode int // once it is not running any more
	Started  time.Time
}

// Start starts a command in the background, without a time limit of its own;
// Timeout, Output and Limit are not used.
func (j *Jobs) Start(opts Options) (Job, error) { return Job{}, nil }

// Kill ends a job with all its processes and returns the end of its output. A
// job that has ended already is no error; an unknown id is.
func (j *Jobs) Kill(id string) (tail string, err error) { return "", nil }

// List returns the jobs in the order in which they were started.
func (j *Jobs) List() []Job { return nil }

// Close ends all jobs and waits for them.
func (j *Jobs) Close() error { return nil }
