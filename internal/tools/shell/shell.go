// Package shell runs command lines. It guarantees that a command has no access to the
// program's terminal, input or secrets, that its output takes a bounded amount of memory,
// that Run returns within 1.5 seconds of the shell's exit, or three while its processes
// still work, and that no process of a command outlives it unnoticed: remaining processes
// are ended, and those that cannot be ended are reported.
//
// The last guarantee holds fully on Linux, where the program adopts orphans, and ends the
// sandbox of a command, or its control group where the system lets us make one, as a whole; and on
// Windows, where a command runs in a job, which ends even if the program is killed. On Linux
// without both, a process that forks without a pause is chased for a second. On other Unix
// systems a process that moved to a new session is not found. There and on Linux it also holds if the
// program is killed, with a watchdog, except on Linux without a control group for
// processes in a new session with another environment and other output, or that fork without a pause.
package shell

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// DefaultLimit is the number of characters of output kept for the model.
const DefaultLimit = 30_000

// Options describes one command.
type Options struct {
	Line string // for the shell, see In
	Dir  string // absolute; must exist
	// Env is the whole environment, see Environ; nil means Environ of the program's own.
	Env []string
	// Here means that the command must run with Env, not in an editor's terminal.
	Here bool
	// Timeout ends the command; zero means none.
	Timeout time.Duration
	// Output, if not nil, receives output as it comes, at most about 20 times a second,
	// from another goroutine, and never after Run has returned. In a flood it gets only
	// the newest part. It must not block forever.
	Output func(chunk string)
	// Input is the command's standard input.
	Input []byte
	// Stdout, if not nil, gets the standard output, which is then missing in Result.Output. Only
	// Run uses it, from another goroutine, and never after it has returned.
	Stdout io.Writer
	// Moved, if not nil, lets Move move the command that Run runs to the background, which also
	// needs SpillDir. It is then called by Run, before Ended may be.
	Moved func(Job)
	// Ended, if not nil, is called when a command in the background has ended, from another
	// goroutine, and before Job shows that.
	Ended func()
	// SpillDir is the folder for output over the limit, created (0700) if missing; empty
	// means that such output is lost.
	SpillDir string
	// Limit is the number of characters in Result.Output; zero means DefaultLimit.
	Limit int
	// Sandbox confines the command, which does not start if that fails. Without one, the
	// command has all rights of the user.
	Sandbox sandbox.Confiner
}

// Result is the result of a command.
type Result struct {
	// ExitCode is the shell's status: 128+n if signal n ended it, and -1 if the command
	// was cancelled before it began.
	ExitCode int
	// Output is stdout and stderr interleaved, decoded to UTF-8, at most Limit characters.
	// If the middle was left out, one more line notes that. For binary output it is a
	// single line with the size.
	Output    string
	Lines     int    // of the whole output
	Omitted   int64  // bytes left out of Output
	Spill     string // file (0600) with the output from its beginning, up to 64 MiB; empty if nothing was left out
	TimedOut  bool
	Cancelled bool // ctx ended before the command did
	Moved     bool // it runs on in the background; see Options.Moved
	Took      time.Duration
	// Notes are sentences for the model and the user about leftover processes that were
	// ended or could not be ended.
	Notes []string
}

// capture returns the capture for the output, see Jobs.Encoding.
func (o Options) capture(encoding text.Encoding) *capture {
	limit := o.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	c := newCapture(limit, o.SpillDir)
	c.encoding = encoding
	return c
}

// check returns clearer errors than the system for commands that it would refuse.
func (o Options) check() error {
	if err := In(o.Dir).Check(o.Line); err != nil {
		return err
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
