package early

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// WatchdogArg is the only argument of a watchdog, the process that ends our commands if we are
// killed.
const WatchdogArg = "end-commands-when-killed"

var lines = wait()

// wait reads the input of a watchdog to its end, about 100 bytes for each command. It
// returns nil in any other process.
func wait() []byte {
	if len(os.Args) != 2 || os.Args[1] != WatchdogArg {
		return nil
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	keepPrivate()
	data, _ := io.ReadAll(os.Stdin) // the next reader of the input gets the error
	return data
}

// WatchdogInput returns the input of this process from its beginning.
func WatchdogInput(rest io.Reader) io.Reader { return io.MultiReader(bytes.NewReader(lines), rest) }
