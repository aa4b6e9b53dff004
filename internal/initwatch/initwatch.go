// Package initwatch lets a watchdog wait for its work before the other packages
// initialize: it needs none of them until then, and most end without any work. Their
// tables would take 20 MB of memory for as long as the session lasts, and processor time
// from the first commands.
//
// It initializes early, since its path sorts before those of the large packages (see
// initenv) and it imports only a few of the standard library. TestWatchdogWaitsEarly in
// cmd/agent checks this. Nothing but time and memory depends on it.
package initwatch

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Arg is the only argument of a watchdog, the process that ends our commands if we are
// killed.
const Arg = "end-commands-when-killed"

var lines = wait()

// wait reads the input of a watchdog to its end, about 100 bytes for each command. It
// returns nil in any other process.
func wait() []byte {
	if len(os.Args) != 2 || os.Args[1] != Arg {
		return nil
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	keepPrivate()
	data, _ := io.ReadAll(os.Stdin) // the next reader of the input gets the error
	return data
}

// Input returns the input of this process from its beginning.
func Input(rest io.Reader) io.Reader { return io.MultiReader(bytes.NewReader(lines), rest) }
